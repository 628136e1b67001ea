import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

/** Commands for a running gateway, with a server that is none, or whose answer is not complete. */

const NO_GATEWAY = (url: string) => `no gateway responds at ${url}/; --admin is the address of its admin server`
const OTHER_SERVER = (url: string) =>
  `${url}/ is not the admin server of a gateway; --admin is the address of its admin server`
const BROKEN_OFF = (url: string) => `the answer of ${url}/ broke off`

const head = (...lines: readonly string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

const servers = [
  ['a web site', `${head('content-type: text/html', 'content-length: 6')}<html>`, OTHER_SERVER],
  ['another API', `${head('content-type: application/json', 'content-length: 4')}null`, OTHER_SERVER],
  ['a redirect', 'HTTP/1.1 302 Found\r\nlocation: /login\r\ncontent-length: 0\r\n\r\n', OTHER_SERVER],
  ['its metrics server', `${head('gatewright-server: metrics', 'content-length: 2')}[]`, OTHER_SERVER],
  ['a server of another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', NO_GATEWAY],
  ['a server that hangs up', '', NO_GATEWAY],
  ['an answer that breaks off', `${head('gatewright-server: admin', 'content-length: 99')}[{"id":`, BROKEN_OFF],
] as const

const commands = [
  ['why', 'abc'],
  ['top', '--once'],
  ['status'],
  ['profile', 'cpu', '--seconds', '1'],
  ['mcp', 'sessions'],
]

for (const [name, bytes, message] of servers) {
  test(`${name}: each command says so`, async () => {
    await using stops = new AsyncDisposableStack()
    const url = await startRaw(stops, bytes)
    const out = join(temporaryFolder(), 'out')
    for (const words of message === BROKEN_OFF ? commands : [...commands, ['tail']]) {
      const all = words[0] === 'profile' ? [...words, '--out', out] : words
      const { code, stdout, stderr } = await gatewright([...all, '--admin', url])
      expect([words, code, stdout, stderr]).toEqual([words, 1, '', `gatewright: ${message(url)}\n`])
    }
  })
}

/** Sends these bytes to everybody who asks, and hangs up. */
async function startRaw(stops: AsyncDisposableStack, bytes: string): Promise<string> {
  const answer = (socket: Socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(bytes))
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
