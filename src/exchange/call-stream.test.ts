import { expect, test } from 'vitest'
import { FrameReader, frameMessage } from '#net/grpc/message-frame.ts'
import type { BodySink, BodySource } from '#net/stream.ts'
import { type Call, CallError, type CallRequest, type CallResponse } from './call.ts'
import { CallStream } from './call-stream.ts'

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
const bytes = (value: string) => new TextEncoder().encode(value)
const turns = () => new Promise((resolve) => setImmediate(resolve))

/** A connection that takes messages while it is open. */
class Connection implements BodySink {
  readonly takesFramed = false
  readonly got: string[] = []
  readonly #reader = new FrameReader(1_000_000)
  backed = false
  source: BodySource | null = null

  bytes(buffer: Buffer, start: number, end: number): void {
    this.#reader.push(new Uint8Array(buffer.subarray(start, end)))
    for (let next = this.#reader.next(); next !== undefined; next = this.#reader.next()) this.got.push(text(next))
  }

  end(): void {
    this.got.push('<end>')
  }

  abort(): void {
    this.got.push('<abort>')
  }
}

/** A call whose server the test plays. */
function streamWith(
  pieces: AsyncIterable<Uint8Array>,
  trailers: Readonly<Record<string, string>> = { 'grpc-status': '0' },
) {
  const events: string[] = []
  let request: CallRequest | undefined
  const headers = [['content-type', 'application/grpc']] as const
  const response: CallResponse = {
    status: 200,
    headers,
    header: (name) => headers.find(([one]) => one === name)?.[1],
    endpoint: '127.0.0.1:80',
    trailer: (name) => trailers[name],
    body: pieces,
  }
  const call: Call = async (_, made) => {
    request = made
    return response
  }
  let wait: Promise<void> | undefined
  const waitFor = (promise: Promise<void>) => {
    wait = promise
  }
  const stream = new CallStream(
    call,
    'Service/default/p/80',
    { purpose: 'processing', path: '/p.P/Talk', defaultMessageMs: 2000 },
    {
      message: (message) => {
        events.push(text(message))
        return wait
      },
      drained: () => events.push('<drained>'),
      ended: (failure) => events.push(failure === undefined ? '<ok>' : `<${failure.text}>`),
      broke: (error) => events.push(`<bug ${error}>`),
    },
  )
  return { stream, events, request: () => request!, waitFor }
}

async function* framed(...messages: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const message of messages) yield frameMessage(bytes(message))
}

const NEVER: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
}

test('messages wait for the connection, then for its room', () => {
  const { stream, events } = streamWith(NEVER)
  stream.send(bytes('a'))
  expect(stream.backed).toBe(false)
  stream.send(bytes('b'.repeat(70_000)))
  expect(stream.backed, 'a caller stops here').toBe(true)
  const connection = new Connection()
  connection.backed = true
  stream.pipe(connection)
  expect([connection.got, stream.backed]).toEqual([[], true])
  connection.backed = false
  stream.resume()
  expect(connection.got.map((one) => one.length)).toEqual([1, 70_000])
  expect([stream.backed, events]).toEqual([false, ['<drained>']])
  stream.send(bytes('c'))
  stream.end()
  expect(connection.got.slice(2)).toEqual(['c', '<end>'])
})

test('the end waits for queued messages', () => {
  const { stream } = streamWith(NEVER)
  const connection = new Connection()
  connection.backed = true
  stream.pipe(connection)
  stream.send(bytes('a'))
  stream.end()
  expect(connection.got).toEqual([])
  connection.backed = false
  stream.resume()
  expect(connection.got).toEqual(['a', '<end>'])
})

test('messages are received one after the other, then the status', async () => {
  const { events } = streamWith(framed('one', 'two'))
  await turns()
  expect(events).toEqual(['one', 'two', '<ok>'])
})

test('the next message waits until the receiver has room', async () => {
  const room = Promise.withResolvers<void>()
  const { events, waitFor } = streamWith(framed('one', 'two'))
  waitFor(room.promise)
  await turns()
  expect(events).toEqual(['one'])
  room.resolve()
  await turns()
  expect(events).toEqual(['one', 'two', '<ok>'])
})

async function* breaking(): AsyncGenerator<Uint8Array> {
  yield* framed('one')
  throw new CallError('reset', 'ECONNRESET')
}

async function* incomplete(): AsyncGenerator<Uint8Array> {
  yield frameMessage(bytes('one')).subarray(0, 6)
}

test.each([
  [
    'a status',
    framed('one'),
    { 'grpc-status': '14', 'grpc-message': 'not%20now' },
    ['one', '<grpc-error: UNAVAILABLE: not now>'],
  ],
  ['a broken connection', breaking(), undefined, ['one', '<reset: ECONNRESET>']],
  ['half a message', incomplete(), undefined, ['<response-invalid: the message is incomplete>']],
  ['no status', framed(), {}, ['<response-invalid: the response has no grpc-status>']],
])('%s ends the stream', async (_, pieces, trailers, expected) => {
  const { events } = streamWith(pieces, trailers)
  await turns()
  expect(events).toEqual(expected)
})

test('a receiver that throws is a bug, and the call is cancelled', async () => {
  const { events, request } = streamWith(framed('one'))
  events.push = () => {
    events.push = Array.prototype.push
    throw new Error('oops')
  }
  await turns()
  expect([[...events], request().signal.aborted]).toEqual([['<bug Error: oops>'], true])
})

test('after a cancellation the receiver hears nothing', async () => {
  const { stream, events, request } = streamWith(framed('one'))
  stream.cancel()
  await turns()
  expect([events, request().signal.aborted]).toEqual([[], true])
})
