import { expect, test } from 'vitest'
import type { Abort, BodySink, BodySource } from '../stream.ts'
import { asBuffer } from './as-buffer.ts'
import { PumpedBody } from './pumped-body.ts'

/** A sink that accepts `room` pieces and is then full until `drain`. */
class SmallSink implements BodySink {
  readonly takesFramed = false
  readonly got: string[] = []
  source: BodySource | null = null
  #room: number

  constructor(room = Number.POSITIVE_INFINITY) {
    this.#room = room
  }

  get backed(): boolean {
    return this.#room <= 0
  }

  bytes(buffer: Buffer, start: number, end: number): void {
    this.#room--
    this.got.push(buffer.toString('utf8', start, end))
  }

  end(): void {
    this.got.push('<end>')
  }

  abort(why: Abort): void {
    this.got.push(`<${why}>`)
  }

  drain(room: number): void {
    this.#room = room
    this.source?.resume()
  }
}

/** Settles when the iterable is over. */
function pumpBody(pieces: AsyncIterable<Uint8Array>, sink: BodySink): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  async function* watched() {
    try {
      yield* pieces
    } finally {
      setImmediate(resolve)
    }
  }
  new PumpedBody(watched(), reject).pipe(sink)
  return promise
}

const turns = () => new Promise((resolve) => setImmediate(resolve))

/** An iterable of the words. `taken`: how many were read; `closed`: whether the iterator was ended. */
function wordsOf(...words: readonly string[]) {
  const state = { taken: 0, closed: false }
  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (const word of words) {
        state.taken++
        yield new TextEncoder().encode(word)
      }
    } finally {
      state.closed = true
    }
  }
  return { state, pieces: pieces() }
}

test('pieces are sent in order, then the body ends', async () => {
  const sink = new SmallSink()
  await pumpBody(wordsOf('a', 'b', 'c').pieces, sink)
  expect(sink.got).toEqual(['a', 'b', 'c', '<end>'])
})

test('an empty iterable ends the body', async () => {
  const sink = new SmallSink()
  await pumpBody(wordsOf().pieces, sink)
  expect(sink.got).toEqual(['<end>'])
})

test('a full sink pauses the iterable until it has drained', async () => {
  const sink = new SmallSink(2)
  const { state, pieces } = wordsOf('a', 'b', 'c', 'd')
  const done = pumpBody(pieces, sink)
  await turns()
  expect([sink.got, state.taken]).toEqual([['a', 'b'], 2])
  sink.drain(1)
  await turns()
  expect(sink.got).toEqual(['a', 'b', 'c'])
  sink.drain(5)
  await done
  expect(sink.got).toEqual(['a', 'b', 'c', 'd', '<end>'])
})

test('a drain that no write waits for has no later effect', async () => {
  const sink = new SmallSink(1)
  const { state, pieces } = wordsOf('a', 'b', 'c')
  const done = pumpBody(pieces, sink)
  await turns()
  sink.drain(1)
  sink.drain(1)
  await turns()
  expect([sink.got, state.taken]).toEqual([['a', 'b'], 2])
  sink.drain(9)
  await done
})

test.each([
  ['while the sink is full', 1],
  ['while the next piece is read', 9],
])('a body that is cancelled %s sends nothing more and does not end, and the iterator is closed', async (_, room) => {
  const sink = new SmallSink(room)
  const { state, pieces } = wordsOf('a', 'b', 'c')
  const body = new PumpedBody(pieces, (error) => sink.got.push(`${error}`))
  body.pipe(sink)
  while (sink.got.length === 0) await Promise.resolve()
  body.cancel()
  body.cancel()
  await turns()
  sink.drain(9)
  await turns()
  expect(sink.got).toEqual(['a'])
  expect(state.closed).toBe(true)
})

test('an iterable that throws is reported, and the body does not end', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array([97])
    throw new Error('broken')
  }
  const sink = new SmallSink()
  await expect(pumpBody(broken(), sink)).rejects.toThrow('broken')
  expect(sink.got).toEqual(['a'])
})

test('a Buffer shares the memory of the bytes', () => {
  const whole = new Uint8Array([1, 2, 3, 4])
  const view = asBuffer(whole.subarray(1, 3))
  whole[1] = 9
  expect([...view]).toEqual([9, 3])
  expect(asBuffer(view)).toBe(view)
})
