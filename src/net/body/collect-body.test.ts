import { expect, test, vi } from 'vitest'
import { Head } from '../http/head.ts'
import { BODY_CHUNKED, type BodySink, type BodySource } from '../stream.ts'
import { TextSink } from '../testing/recording-handler.ts'
import { roomFor } from '../testing/room-for.ts'
import { BodyClaim, BodyMemory } from './body-memory.ts'
import { type Collected, collectBody, collectStart, PartialBody } from './collect-body.ts'
import { FixedBody } from './fixed-body.ts'

type Result = Collected | PartialBody | undefined

/** The result of collecting a body that arrives at once; reported once. */
function collect(gather: typeof collectStart, source: BodySource, limits: Parameters<typeof collectBody>[1]): Result {
  let result: Result
  gather(source, limits, (one) => {
    expect(result).toBeUndefined()
    result = one
  })
  return result
}

function textOf(result: Result): string | undefined {
  if (result === undefined || typeof result === 'string') return result
  return result instanceof PartialBody ? `${result.prefix}...` : result.bytes.toString()
}

/** A body of unknown length that arrives in these parts, in memory that changes afterwards. */
function inParts(parts: readonly string[], end: 'end' | 'reset'): BodySource {
  let left = [...parts]
  const give = (sink: BodySink) => {
    const now = left
    left = []
    for (const part of now) {
      const memory = Buffer.from(part)
      sink.bytes(memory, 0, memory.length)
      memory.fill(0)
    }
    if (end === 'end') sink.end()
    else sink.abort(end)
  }
  return { kind: BODY_CHUNKED, length: -1, pause: () => {}, resume: () => {}, pipe: give }
}

test.each<[parts: string[], maxBytes: number, memoryBytes: number, end: 'end' | 'reset', whole: string, start: string]>(
  [
    [[], 0, 0, 'end', '', ''],
    [['ab'], 2, 2, 'end', 'ab', 'ab'],
    [['ab', 'c', 'de'], 5, 5, 'end', 'abcde', 'abcde'],
    [['ab', 'c', 'de'], 4, 9, 'end', 'too-large', 'abcd...'],
    [['ab', 'c', 'de'], 4, 9, 'reset', 'too-large', 'abcd...'],
    [['ab'], 5, 9, 'reset', 'reset', 'reset'],
    [['ab', 'c', 'de'], 9, 3, 'end', 'no-memory', 'no-memory'],
    [['ab', 'c', 'de'], 9, 1, 'reset', 'no-memory', 'no-memory'],
  ],
)(
  'gathering %j, at most %i bytes with memory for %i, ending with %s',
  (parts, maxBytes, memoryBytes, end, whole, start) => {
    for (const [gather, expected] of [
      [collectBody, whole],
      [collectStart, start],
    ] as const) {
      const limits = roomFor(maxBytes, memoryBytes)
      expect(textOf(collect(gather, inParts(parts, end), limits))).toBe(expected)
      if (expected === 'no-memory' || expected === 'too-large') expect(limits.memory.heldBytes).toBe(0)
      limits.claim.release()
      expect(limits.memory.heldBytes).toBe(0)
    }
  },
)

test('a body with a too large announced length is not read', () => {
  expect(collect(collectBody, new FixedBody('hello'), roomFor(4))).toBe('too-large')
  expect(textOf(collect(collectBody, new FixedBody('hello'), roomFor(5)))).toBe('hello')
})

test('bytes after the start are passed to the end, also without memory for them', () => {
  const { memory, ...limits } = roomFor(3, 4)
  const body = collect(collectStart, inParts(['abcd', 'efgh', 'ij'], 'end'), limits) as PartialBody
  const sink = new TextSink()
  body.pipe(sink)
  expect([body.prefix.toString(), sink.text, sink.ended]).toEqual(['abc', 'abcdefghij', true])
  expect(memory.heldBytes).toBeGreaterThan(4)
})

test('trailers arrive with the body', () => {
  const trailers = new Head()
  trailers.append('x-sum', '3')
  for (const gather of [collectBody, collectStart]) {
    const result = collect(gather, new FixedBody('abc', trailers), roomFor(3))
    expect(result).toMatchObject({ trailers: expect.objectContaining({ fieldCount: 1 }) })
  }
})

test('when there is no memory, clients that take long give way to others, the oldest first', () => {
  let now = 0
  const memory = new BodyMemory(10, () => now)
  const begin = (): { readonly sink: BodySink; readonly claim: BodyClaim; results: string[] } => {
    const claim = new BodyClaim(memory)
    const results: string[] = []
    let sink: BodySink | undefined
    const source: BodySource = {
      kind: BODY_CHUNKED,
      length: -1,
      pause: () => {},
      resume: () => {},
      pipe: (into) => {
        sink = into
      },
    }
    collectBody(source, { maxBytes: 10, claim, givesWay: true }, (result) => results.push(textOf(result)!))
    return { sink: sink!, claim, results }
  }
  const give = ({ sink }: { readonly sink: BodySink }, text: string) => sink.bytes(Buffer.from(text), 0, text.length)
  const [oldest, slow] = [begin(), begin()]
  now = 1
  const recent = begin()
  const done = begin()
  give(done, 'd')
  done.sink.end()
  for (const body of [oldest, slow, recent]) give(body, 'abc')
  now = 9999
  const impatient = begin()
  give(impatient, 'x')
  expect([impatient.results, oldest.results, memory.heldBytes]).toEqual([['no-memory'], [], 10])
  now = 10_000
  const next = begin()
  give(next, 'xyz')
  expect([oldest.results, slow.results, next.results, memory.heldBytes]).toEqual([['no-memory'], [], [], 10])
  // A body that has taken long itself gives way as well, and no more of it is kept.
  give(slow, 'abcdefg')
  give(slow, 'h')
  slow.sink.end()
  expect([slow.results, recent.results, memory.heldBytes]).toEqual([['no-memory'], [], 7])
  next.sink.end()
  expect([next.results, done.results]).toEqual([['xyz'], ['d']])
  for (const { claim } of [oldest, slow, recent, done, impatient, next]) claim.release()
  expect([memory.heldBytes, memory.hasRoom(10), memory.hasRoom(11)]).toEqual([0, true, false])
  expect(recent.results).toEqual([])
})

test('the start of a body ends where it is stopped; nothing is lost', () => {
  let stop = () => {}
  let result: Result
  let source: BodySink | undefined
  const body: BodySource = {
    kind: BODY_CHUNKED,
    length: -1,
    pause: () => {},
    resume: () => {},
    pipe: (sink) => {
      source = sink
    },
  }
  collectStart(
    body,
    { maxBytes: 100, claim: roomFor(100).claim },
    (one) => {
      expect(result).toBeUndefined()
      result = one
    },
    (how) => {
      stop = how
    },
  )
  const give = (text: string) => source!.bytes(Buffer.from(text), 0, text.length)
  give('ab')
  expect([result, source!.backed]).toEqual([undefined, false])
  stop()
  expect([textOf(result), source!.backed]).toEqual(['ab...', true])
  give('c')
  stop()
  const rest = new TextSink()
  ;(result as unknown as PartialBody).pipe(rest)
  give('d')
  expect(rest.text).toBe('abcd')
})

test('a body that has ended is not stopped', () => {
  let stop = () => {}
  const results: Result[] = []
  const limits = { maxBytes: 100, claim: roomFor(100).claim }
  collectStart(
    inParts(['ab'], 'end'),
    limits,
    (one) => results.push(one),
    (how) => {
      stop = how
    },
  )
  stop()
  expect(results.map(textOf)).toEqual(['ab'])
})

test('a body that has arrived need not wait to be dropped', () => {
  const memory = new BodyMemory(10, () => 0)
  const begins = vi.spyOn(memory, 'begins')
  const limits = { maxBytes: 10, claim: new BodyClaim(memory), givesWay: true }
  expect(textOf(collect(collectBody, inParts(['ab'], 'end'), limits))).toBe('ab')
  expect(textOf(collect(collectBody, inParts(['0123456789a'], 'end'), limits))).toBe('no-memory')
  expect(begins).not.toHaveBeenCalled()
  collectBody({ ...inParts([], 'end'), pipe: () => {} }, limits, () => {})
  expect(begins).toHaveBeenCalledOnce()
})
