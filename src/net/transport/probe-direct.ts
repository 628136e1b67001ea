import net from 'node:net'
import { clock } from '#base/clock.ts'
import { directTransports, handleOf, type ReadState, type StreamHandle } from './direct-transports.ts'
import type { PlainTransports } from './plain-transports.ts'
import { ReadRelay } from './read-relay.ts'
import type { Transport, TransportOwner } from './transport.ts'

/** Longer than any step takes on a busy machine. */
const STEP_TIMEOUT_MS = 5000
/** Larger than coalesced output, so that it is sent as bytes. */
const LARGE = 20_000
const PIECE = 65_536
/** If the kernel accepts more than this, the probe skips queued writes. */
const MAX_FILL = 256 * 1024 * 1024

/**
 * Tests everything that direct transports need of this Node over one loopback connection, which takes a few milliseconds. Node aborts the
 * process when native code is called with unexpected arguments, so the probe calls a native method only after it has observed Node call it
 * in the same way. Rejects with the reason if something is missing or does not work.
 */
export async function probeDirect(findReadState: () => unknown = readStateOfNode): Promise<PlainTransports> {
  const transports = directTransports(checkReadState(findReadState()))
  const pair = await connectPair()
  try {
    checkHandle(handleOf(pair.accepted))
    checkHandle(handleOf(pair.client))
    checkCalls(pair.client)
    await tryOut(transports, pair)
    return transports
  } finally {
    pair.close()
  }
}

/** Deprecated (DEP0111), and refused under the permission model. */
function readStateOfNode(): unknown {
  try {
    return (process as unknown as { binding(name: string): unknown }).binding('stream_wrap')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new Error(`process.binding('stream_wrap') failed: ${code ?? message}`, { cause })
  }
}

function checkReadState(found: unknown): ReadState {
  const { streamBaseState, kReadBytesOrError } = (found ?? {}) as Partial<ReadState>
  if (!(streamBaseState instanceof Int32Array)) throw new Error('stream_wrap has no streamBaseState')
  if (kReadBytesOrError === undefined || streamBaseState[kReadBytesOrError] === undefined) {
    throw new Error('stream_wrap has no kReadBytesOrError')
  }
  return { streamBaseState, kReadBytesOrError }
}

const METHODS = ['onread', 'readStop', 'writeLatin1String', 'writeBuffer'] as const

function checkHandle(handle: StreamHandle | undefined): void {
  if (handle === undefined) throw new Error('sockets have no _handle')
  for (const name of METHODS) {
    if (typeof handle[name] !== 'function') throw new Error(`handles of sockets have no ${name}`)
  }
  if (typeof handle.writeQueueSize !== 'number') throw new Error('handles of sockets have no writeQueueSize')
}

/** Lets Node write text and bytes to a handle whose two methods only record their arguments. */
function checkCalls(socket: net.Socket): void {
  const handle = handleOf(socket) as unknown as Record<string, unknown>
  const calls: unknown[][] = []
  const take = (...given: unknown[]): number => {
    calls.push(given)
    return 0
  }
  handle.writeLatin1String = take
  handle.writeBuffer = take
  socket.write('x', 'latin1')
  socket.write(Buffer.from('x'))
  delete handle.writeLatin1String
  delete handle.writeBuffer
  const [text, bytes] = calls
  const likeOurs =
    calls.length === 2 &&
    calls.every((given) => given.length === 2 && given[0] === null) &&
    text![1] === 'x' &&
    bytes![1] instanceof Uint8Array
  if (!likeOurs) throw new Error('this Node calls the handles of sockets with other arguments')
}

/** Both ends act like those of a proxy: they read and write in both ways, queue what the kernel does not accept, and end. */
async function tryOut(transports: PlainTransports, pair: Pair): Promise<void> {
  const near = new ProbeOwner()
  const far = new ProbeOwner()
  const ends: Transport[] = []
  try {
    const nearEnd = transports.open(pair.client, pair.relay, near)
    ends.push(nearEnd)
    const farEnd = transports.accept(pair.accepted, pair.server, far)
    ends.push(farEnd)
    await tryWriting(nearEnd, far)
    nearEnd.pause()
    const sent = fill(farEnd)
    nearEnd.resume()
    await far.until('the end of a write that waits', () => far.hasDrained)
    await near.until('what waited', () => near.received >= sent)
    if (pair.readThroughStream()) throw new Error('reads still come through the stream')
    nearEnd.end()
    await far.until('the end of a direction', () => far.hasEnded)
  } finally {
    for (const end of ends) end.destroy()
  }
}

async function tryWriting(end: Transport, reader: ProbeOwner): Promise<void> {
  const large = 'bytes'.repeat(LARGE / 5)
  // Too large to be deferred to the end of the turn, where an exception would not be caught.
  end.writeText('text \u00e9')
  end.writeBytes(Buffer.from(large), 0, LARGE)
  const expected = `text \u00e9${large}`
  await reader.until('a write and a read', () => reader.received >= expected.length)
  if (reader.beginning !== expected) throw new Error('what was read is not what was written')
}

/** Writes until the kernel accepts no more. @returns the number of bytes */
function fill(end: Transport): number {
  const piece = Buffer.alloc(PIECE)
  for (let sent = PIECE; sent <= MAX_FILL; sent += PIECE) {
    end.writeBytes(piece, 0, PIECE)
    if (end.backed) return sent
  }
  throw new Error('no write ever waited')
}

/** Records the events of one end of the connection. */
class ProbeOwner implements TransportOwner {
  /** The first bytes, as latin-1 text, up to the length of the comparison. */
  beginning = ''
  received = 0
  hasDrained = false
  hasEnded = false
  #changed: () => void = () => {}

  bytes(buffer: Buffer, start: number, end: number): void {
    if (this.received <= LARGE) this.beginning += buffer.toString('latin1', start, end)
    this.received += end - start
    this.#changed()
  }

  drained(): void {
    this.hasDrained = true
    this.#changed()
  }

  ended(): void {
    this.hasEnded = true
    this.#changed()
  }

  closed(): void {
    this.ended()
  }

  /** Rejects after a timeout, or when the peer ends first. */
  until(step: string, isDone: () => boolean): Promise<void> {
    return withinTime(step, (resolve, reject) => {
      this.#changed = () => {
        if (isDone()) resolve()
        else if (this.hasEnded) reject(new Error(`the connection ended before ${step}`))
      }
      this.#changed()
    })
  }
}

/** The two ends of a connection, as in a proxy: one accepted and paused, one created with a relay. */
interface Pair {
  readonly server: net.Server
  readonly accepted: net.Socket
  readonly client: net.Socket
  readonly relay: ReadRelay
  /** Whether the stream of `client` has reported a read. */
  readonly readThroughStream: () => boolean
  close(): void
}

async function connectPair(): Promise<Pair> {
  const relay = new ReadRelay()
  let throughStream = false
  const onread = {
    buffer: relay.onread.buffer,
    callback: (length: number) => {
      throughStream = true
      return relay.onread.callback(length)
    },
  }
  const server = net.createServer({ pauseOnConnect: true, allowHalfOpen: true })
  let client: net.Socket | undefined
  const close = () => {
    client?.destroy()
    server.close()
  }
  try {
    const [accepted, connected] = await withinTime<[net.Socket, net.Socket]>(
      'a loopback connection',
      (resolve, reject) => {
        let accepted: net.Socket | undefined
        const look = () => {
          if (accepted !== undefined && client?.connecting === false) resolve([accepted, client])
        }
        server.on('error', reject)
        server.on('connection', (socket) => {
          accepted = socket
          socket.on('error', reject)
          look()
        })
        server.listen(0, '127.0.0.1', () => {
          const { port } = server.address() as net.AddressInfo
          client = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true, onread }, look)
          client.on('error', reject)
        })
      },
    )
    return { server, accepted, client: connected, relay, readThroughStream: () => throughStream, close }
  } catch (error) {
    close()
    throw error
  }
}

function withinTime<T>(
  step: string,
  begin: (resolve: (value: T) => void, reject: (error: Error) => void) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const late = clock.after(STEP_TIMEOUT_MS, () => reject(new Error(`${step} took longer than ${STEP_TIMEOUT_MS} ms`)))
    const stop =
      <V>(end: (value: V) => void) =>
      (value: V) => {
        late.cancel()
        end(value)
      }
    begin(stop(resolve), stop(reject))
  })
}
