import { existsSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { runCommandLine } from '../program.ts'

let printed: string[]

beforeEach(() => {
  printed = []
  for (const name of ['log', 'error'] as const) {
    vi.spyOn(console, name).mockImplementation((line) => void printed.push(line))
  }
})
afterEach(() => void vi.restoreAllMocks())

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1'] as const

/** Serves in this thread. Signals of a process have an end of their own: what listens to them is removed. */
async function serve(...words: readonly string[]): Promise<number> {
  const before = SIGNALS.map((signal) => [signal, process.listeners(signal)] as const)
  const code = await runCommandLine(['idp', 'serve', ...words])
  for (const [signal, listeners] of before) {
    for (const one of process.listeners(signal)) if (!listeners.includes(one)) process.off(signal, one)
  }
  return code
}

const passwordIn = () => /admin, password (?<password>\S+) /.exec(printed.join('\n'))?.groups?.password

/** Serves until the address is printed, and some work is done. @returns the exit code */
async function served(work: (url: string) => Promise<void>, ...words: readonly string[]): Promise<number> {
  printed.length = 0
  const ended = serve('--port', '0', ...words)
  const url = await eventually('the address is printed', () => {
    return /address +(?<url>\S+)/.exec(printed.join('\n'))?.groups?.url
  })
  await work(url)
  process.emit('SIGTERM')
  return ended
}

test('the password is printed by the first start that listens, and only by that', async () => {
  const state = join(temporaryFolder(), 'state')
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  expect(await serve('--port', `${(other.address() as AddressInfo).port}`, '--state', state)).toBe(1)
  other.close()
  expect(printed.at(-1)).toContain('is in use')

  let password = ''
  const first = await served(
    async (url) => {
      password = passwordIn()!
      const fields = { client_id: 'admin-cli', grant_type: 'password', username: 'admin', password }
      const path = `${url}/realms/master/protocol/openid-connect/token`
      expect((await fetch(path, { method: 'POST', body: new URLSearchParams(fields) })).status).toBe(200)
      expect(printed.join('\n')).toContain(`--url ${url} --realm shop --admin-password ${password}`)
    },
    '--realm',
    'shop',
    '--state',
    state,
  )
  const second = await served(async () => expect(printed.join('\n')).not.toContain(password), '--state', state)
  expect([first, second]).toEqual([0, 0])
})

test('the environment may have the password, which is not printed', async () => {
  vi.stubEnv('GATEWRIGHT_IDP_ADMIN_PASSWORD', 'given-password')
  const state = join(temporaryFolder(), 'state')
  await served(
    async (url) => {
      const fields = { client_id: 'admin-cli', grant_type: 'password', username: 'admin', password: 'given-password' }
      const path = `${url}/realms/master/protocol/openid-connect/token`
      expect((await fetch(path, { method: 'POST', body: new URLSearchParams(fields) })).status).toBe(200)
      expect(printed.join('\n')).not.toContain('given-password')
    },
    '--state',
    state,
  )
  vi.unstubAllEnvs()
})

test('an address of another machine is one line', async () => {
  expect(await serve('--address', '192.0.2.1', '--port', '0', '--state', join(temporaryFolder(), 'state'))).toBe(1)
  expect(printed.at(-1)).toMatch(/^gatewright: listen EADDRNOTAVAIL.*192\.0\.2\.1[^\n]*$/)
})

test('a damaged file is not replaced', async () => {
  const state = temporaryFolder()
  writeFileSync(join(state, 'idp.json'), '{')
  expect(await serve('--port', '0', '--state', state)).toBe(1)
  expect(printed.at(-1)).toContain('idp.json is damaged')
})

test.each([
  [['--address', 'localhost'], 'is not an IP address'],
  [['--port', '65536'], '--port is a number'],
  [['--port', '-1'], '--port is a number'],
  [['--realm', '..'], 'not only dots'],
  [['--realm', 'a/b'], 'letters, digits'],
  [['--public-url', 'ftp://a'], 'must be http or https'],
  [['--public-url', 'http://a/b'], 'without a path'],
])('%j is a mistake', async (words, message) => {
  const state = join(temporaryFolder(), 'state')
  expect(await serve('--state', state, ...words)).toBe(2)
  expect([printed.at(-1), existsSync(state)]).toEqual([expect.stringContaining(message), false])
})
