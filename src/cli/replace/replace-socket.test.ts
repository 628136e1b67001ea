import { statSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test, vi } from 'vitest'
import { listeningDescriptor } from '#base/listen.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { askToReplace, thisProgram } from './ask-to-replace.ts'
import { type Replaceable, ReplaceSocket, startLimit } from './replace-socket.ts'

const LIMIT_MS = startLimit.ms
const stops: (() => unknown)[] = []

afterEach(async () => {
  startLimit.ms = LIMIT_MS
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** A gateway with one socket, on which it says "old". */
async function startOld() {
  const path = join(temporaryFolder(), 'replace.sock')
  const server = net.createServer((socket) => socket.end('old'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stops.push(() => server.listening && new Promise((resolve) => server.close(resolve)))
  const { port } = server.address() as net.AddressInfo
  const steps: string[] = []
  const gateway: Replaceable = {
    sockets: async () => ({
      traffic: [{ socket: `127.0.0.1:${port}`, descriptor: listeningDescriptor(server) }],
      operators: [],
    }),
    isReady: true,
    sessionKey: new Uint8Array(32),
    lendState: () => steps.push('lend'),
    takeStateBack: () => steps.push('take back'),
    handOver: () => {
      steps.push('hand over')
      server.close()
    },
  }
  const messages: string[] = []
  const old = new ReplaceSocket(path, gateway, {}, (_module, _level, message) => messages.push(message))
  stops.push(() => old.close())
  await eventually('it listens', () => (statSync(path).mode & 0o777) === 0o600 || undefined)
  const ask = (script: string) => askToReplace(path, { ...thisProgram(process.env), words: ['--eval', script] })
  return { path, old, gateway, steps, messages, port, ask }
}

async function read(port: number): Promise<string> {
  return text(net.connect(port, '127.0.0.1'))
}

const SERVES = `
const server = require('node:net').createServer((socket) => socket.end('new'))
process.on('message', ({ kind, traffic }) => {
  if (kind === 'over') return process.disconnect()
  if (traffic.length !== 1 || process.env.GATEWRIGHT_PREDECESSOR !== String(process.ppid)) process.exit(9)
  server.listen({ fd: 4 }, () => process.send({ kind: 'running' }))
})`

test('a process that serves takes the sockets', async () => {
  const { steps, port, ask, path } = await startOld()
  expect(await read(port)).toBe('old')
  const answer = await ask(SERVES)
  expect(answer).toEqual({ kind: 'replaced', before: process.pid, now: expect.any(Number) })
  const { now } = answer as { now: number }
  stops.push(() => process.kill(now, 'SIGKILL'))
  expect(await read(port)).toBe('new')
  expect(steps).toEqual(['lend', 'hand over'])
  // The new process has a socket of its own there, a real one.
  expect(() => statSync(path)).toThrow('ENOENT')
})

test.each([
  ['ends', 'process.exit(7)', 'the new process ended with code 7; its messages are in the log of the running gateway'],
  ['says why it fails', `process.send({ kind: 'failed', cause: 'no port' }, () => process.disconnect())`, 'no port'],
])('a process that %s leaves the old one serving, and another one may try', async (_, script, cause) => {
  const { steps, port, ask } = await startOld()
  expect(await ask(script)).toEqual({ kind: 'failed', cause })
  await eventually('it has ended', () => steps.at(-1) === 'take back' || undefined)
  expect(await read(port)).toBe('old')
  expect(await ask(script)).toEqual({ kind: 'failed', cause })
  await eventually('the second one has ended', () => steps.join() === 'lend,take back,lend,take back' || undefined)
})

test('a process that is not ready in time is killed', async () => {
  startLimit.ms = 20
  const { steps, ask } = await startOld()
  expect(await ask('setInterval(() => {}, 1000)')).toEqual({
    kind: 'failed',
    cause: 'the new process was not ready after 0.02 seconds',
  })
  await eventually('it has ended', () => steps.at(-1) === 'take back' || undefined)
})

test('only one process starts at a time; a gateway that stops ends it', async () => {
  const { old, steps, messages, ask } = await startOld()
  const first = ask('setInterval(() => {}, 1000)')
  await eventually('the first one starts', () => messages.length > 0 || undefined)
  expect(await ask(SERVES)).toEqual({
    kind: 'failed',
    cause: 'another process is about to replace the running gateway',
  })
  old.close()
  expect(await first).toMatchObject({ kind: 'failed', cause: expect.stringContaining('SIGKILL') })
  expect(steps).toEqual(['lend'])
})

test('a state folder that cannot be taken back is told', async () => {
  const { gateway, messages, ask } = await startOld()
  vi.spyOn(gateway, 'takeStateBack').mockImplementation(() => {
    throw new Error('another process uses it')
  })
  await ask('process.exit(7)')
  await eventually('a message', () => messages[1])
  expect(messages[1]).toBe('this process continues, but cannot use its state folder; restart it')
})

test('a program that the system cannot start, and a gateway that does not know its sockets', async () => {
  const { path, gateway, steps, ask } = await startOld()
  const missing = { ...thisProgram(process.env), runtime: '/nowhere/node' }
  expect(await askToReplace(path, missing)).toEqual({ kind: 'failed', cause: 'spawn /nowhere/node ENOENT' })
  expect(steps).toEqual(['lend', 'take back'])
  vi.spyOn(gateway, 'sockets').mockRejectedValue(new Error('a worker does not answer'))
  expect(await ask(SERVES)).toEqual({ kind: 'failed', cause: 'a worker does not answer' })
  expect(steps).toEqual(['lend', 'take back'])
})

test.each(['no JSON\n', '{"runtime":1}\n', '{"runtime":"a","words":[2],"folder":"/","environment":{}}\n'])(
  'a request that describes no program is refused: %s',
  async (request) => {
    const { path, steps } = await startOld()
    const connection = net.connect(path)
    connection.write(request)
    expect(await text(connection)).toContain('does not understand the request')
    expect(steps).toEqual([])
  },
)

test('nobody listens', async () => {
  const path = join(temporaryFolder(), 'replace.sock')
  expect(await askToReplace(path, thisProgram({}))).toBeUndefined()
})
