import { expect, test, vi } from 'vitest'
import { DecisionIds } from '#observe/decision-ids.ts'
import { type DecisionRecord, DecisionRing } from '#observe/decision-ring.ts'
import { keptDecision } from '#observe/testing.ts'
import { type DecisionReader, tailDecisions } from './tail-decisions.ts'

const ring = new DecisionRing('w1', new DecisionIds(), 1)
ring.keep(keptDecision())
const blank = ring.list()[0]!

function follow(query: string) {
  const written: string[] = []
  const taken: (() => void)[] = []
  const client = {
    unsentBytes: 0,
    write: (text: string) => void written.push(text),
    onTaken: (run: () => void) => void taken.push(run),
  }
  /** The client takes what waits for it. */
  const take = () => {
    client.unsentBytes = 0
    for (const run of taken) run()
  }
  let reader: DecisionReader | undefined
  const answer = tailDecisions(
    (given) => {
      reader = given
      return () => {
        reader = undefined
      }
    },
    new URLSearchParams(query),
    (text) => text.replaceAll('hunter22', '<redacted>'),
  )
  if (!('stream' in answer)) throw new Error(answer.body)
  const end = answer.stream(client)
  const send = (...records: Partial<DecisionRecord>[]) =>
    reader?.records(records.map((values) => ({ ...blank, ...values })))
  const lose = (count: number) => reader?.lost(count)
  return { written, client, take, end, send, lose, isRead: () => reader !== undefined }
}

/** Ids of decisions, and what was lost. */
function told(written: readonly string[]): unknown[] {
  return written.flatMap((text) => {
    const [, event, data] = /^event: (\w+)\ndata: (.*)\n\n$/.exec(text) ?? []
    if (event === undefined) return []
    const value = JSON.parse(data!) as { id: string; records: number }
    return [event === 'lost' ? value.records : value.id]
  })
}

test('what the query selects, without secrets', () => {
  const { written, send } = follow('status=4xx')
  send({ id: '1', status: 200 }, { id: '2', status: 403, detail: 'hunter22' })
  send({ id: '3', status: 404 })
  expect(told(written)).toEqual(['2', '3'])
  expect(written.join('')).not.toContain('hunter22')
  expect(written.join('')).toContain('<redacted>')
})

test('an invalid query is refused', () => {
  expect(() => follow('limit=3')).toThrow('unknown parameter; use status, code, route, backend, consumer, model')
})

test('a client that does not read loses records, and is told how many when it reads again', () => {
  const { written, client, send } = follow('')
  send({ id: '1' })
  client.unsentBytes = 2 * 1024 * 1024
  send({ id: '2' }, { id: '3' })
  client.unsentBytes = 0
  send({ id: '4' })
  expect(told(written)).toEqual(['1', 2, '4'])
})

test('it is told although nothing else happens', () => {
  const { written, client, take, send } = follow('')
  client.unsentBytes = 2 * 1024 * 1024
  send({ id: '1' }, { id: '2' })
  take()
  take()
  expect(told(written)).toEqual([2])
})

test('records that a worker has forgotten are told at once', () => {
  const { written, lose } = follow('')
  lose(7)
  expect(told(written)).toEqual([7])
})

test('a heartbeat while nothing happens, but none to a client that does not read', () => {
  vi.useFakeTimers()
  try {
    const { written, client, end, isRead } = follow('')
    vi.advanceTimersByTime(31_000)
    expect(written).toEqual([':\n\n', ':\n\n', ':\n\n'])
    client.unsentBytes = 1
    vi.advanceTimersByTime(30_000)
    expect(written).toHaveLength(3)
    end()
    expect([isRead(), vi.getTimerCount()]).toEqual([false, 0])
  } finally {
    vi.useRealTimers()
  }
})
