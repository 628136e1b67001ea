import { once } from 'node:events'
import net from 'node:net'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { chooseTransports } from './choose-transports.ts'
import { probeDirect } from './probe-direct.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('the pinned Node supports direct reads and writes', async () => {
  expect(await chooseTransports('auto')).toMatchObject({ transports: { kind: 'direct' }, fallbackReason: undefined })
})

test('the setting selects streams, and no probe runs', async () => {
  const probe = vi.fn()
  expect(await chooseTransports('streams', probe)).toMatchObject({
    transports: { kind: 'streams' },
    fallbackReason: 'chosen by the setting',
  })
  expect(probe).not.toHaveBeenCalled()
})

test('the failure of the probe is the reason for using streams', async () => {
  const choice = await chooseTransports('auto', () => Promise.reject(new Error('something is missing')))
  expect(choice).toMatchObject({ transports: { kind: 'streams' }, fallbackReason: 'something is missing' })
})

const NO_ARRAY = 'stream_wrap has no streamBaseState'

test.each<[what: string, found: unknown, reason: string]>([
  ['nothing', undefined, NO_ARRAY],
  ['null', null, NO_ARRAY],
  ['an empty object', {}, NO_ARRAY],
  ['another sort of array', { streamBaseState: [0], kReadBytesOrError: 0 }, NO_ARRAY],
  ['no index', { streamBaseState: new Int32Array(5) }, 'stream_wrap has no kReadBytesOrError'],
  [
    'an index outside',
    { streamBaseState: new Int32Array(5), kReadBytesOrError: 5 },
    'stream_wrap has no kReadBytesOrError',
  ],
  // Node continues to pass reads to its stream.
  [
    'an array that stays empty',
    { streamBaseState: new Int32Array(5), kReadBytesOrError: 0 },
    'reads still come through the stream',
  ],
  [
    'an array with wrong lengths',
    { streamBaseState: new Int32Array(5).fill(99_999), kReadBytesOrError: 0 },
    'what was read is not what was written',
  ],
])('the read state is %s', async (_, found, reason) => {
  await expect(probeDirect(() => found)).rejects.toThrow(reason)
})

test('process.binding is missing, or refuses', async () => {
  const runtime = process as unknown as { binding: unknown }
  const { binding } = runtime
  onTestFinished(() => {
    runtime.binding = binding
  })
  runtime.binding = undefined
  await expect(probeDirect()).rejects.toThrow("process.binding('stream_wrap') failed: ")
  runtime.binding = () => {
    throw Object.assign(new Error('process.binding'), { code: 'ERR_ACCESS_DENIED' })
  }
  await expect(probeDirect()).rejects.toThrow("process.binding('stream_wrap') failed: ERR_ACCESS_DENIED")
})

/** Replaces a method of all socket handles until the test ends. */
async function replaceMethod(name: string, method: unknown): Promise<void> {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  let owner = (socket as unknown as { _handle: object })._handle
  while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object
  socket.destroy()
  server.close()
  const before = Object.getOwnPropertyDescriptor(owner, name)!
  Object.defineProperty(owner, name, { value: method, configurable: true, writable: true })
  onTestFinished(() => {
    Object.defineProperty(owner, name, before)
  })
}

/** Steps that never end time out soon. */
function hurry(): void {
  const { after } = clock
  vi.spyOn(clock, 'after').mockImplementation((_, run) => after(300, run))
}

test.each(['writeBuffer', 'writeLatin1String'])('handles have no %s', async (name) => {
  await replaceMethod(name, undefined)
  await expect(probeDirect()).rejects.toThrow(`handles of sockets have no ${name}`)
})

test('no native call is made where Node passes write requests to handles, as in releases before 26.10', async () => {
  const native = vi.fn()
  await replaceMethod('writeLatin1String', native)
  await replaceMethod('writeBuffer', native)
  type Writes = (this: { _handle: Record<string, (...given: unknown[]) => unknown> }, ...given: unknown[]) => void
  const older: Writes = function (_writev, data, _encoding, done) {
    this._handle[typeof data === 'string' ? 'writeLatin1String' : 'writeBuffer']!({ request: true }, data)
    ;(done as () => void)()
  }
  vi.spyOn(net.Socket.prototype as unknown as { _writeGeneric: Writes }, '_writeGeneric').mockImplementation(older)
  await expect(probeDirect()).rejects.toThrow('this Node calls the handles of sockets with other arguments')
  expect(native).not.toHaveBeenCalled()
})

test.each<[what: string, name: string, method: () => unknown, reason: string]>([
  [
    'throws',
    'writeLatin1String',
    () => {
      throw new Error('no such call')
    },
    'no such call',
  ],
  [
    'throws',
    'writeBuffer',
    () => {
      throw new Error('no such call')
    },
    'no such call',
  ],
  ['fails', 'writeBuffer', () => -32, 'the connection ended before a write and a read'],
  ['returns nothing', 'writeBuffer', () => undefined, 'the connection ended before a write and a read'],
  ['discards its bytes', 'writeBuffer', () => 0, 'a write and a read took longer than 5000 ms'],
])('a write %s: %s', async (_, name, method, reason) => {
  // The others do not wait, and a busy machine may need long for them.
  if (reason.includes('took longer')) hurry()
  await replaceMethod(name, method)
  await expect(probeDirect()).rejects.toThrow(reason)
})

test('no loopback interface', async () => {
  vi.spyOn(net.Server.prototype, 'listen').mockImplementation(function (this: net.Server) {
    process.nextTick(() => this.emit('error', new Error('listen EADDRNOTAVAIL')))
    return this
  })
  await expect(probeDirect()).rejects.toThrow('listen EADDRNOTAVAIL')
})

test('sockets without an accessible handle', async () => {
  const connect = net.connect.bind(net) as (...given: unknown[]) => net.Socket
  vi.spyOn(net, 'connect').mockImplementation(((...given: unknown[]) => {
    const socket = connect(...given)
    let hidden: unknown
    socket.on('connect', () => {
      hidden = (socket as unknown as { _handle: unknown })._handle
      Object.defineProperty(socket, '_handle', { get: () => undefined, configurable: true })
    })
    onTestFinished(() => (hidden as { close(): void } | undefined)?.close())
    return socket
  }) as typeof net.connect)
  await expect(probeDirect()).rejects.toThrow('sockets have no _handle')
})
