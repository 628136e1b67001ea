import { afterEach, beforeEach, expect, test } from 'vitest'
import { Circuit, isCircuitOpen } from '#state/circuit.ts'
import { buffersOf, createSlotMemory, openSlotMemory } from '#state/slots.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { withCircuit } from './circuit.ts'
import type { ServiceVerdict } from './service.ts'
import { around, fakeCall, question } from './testing.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

const DOWN: ServiceVerdict = { kind: 'failed', detail: 'down' }
const SPARED: ServiceVerdict = { kind: 'failed', detail: 'bad text', sparesService: 'answered' }
const PASS: ServiceVerdict = { kind: 'pass' }
const OPEN = {
  kind: 'failed',
  detail: 'the service failed 5 times in a row (the last time: down); it is asked again soon',
}

/** The second slot of the memory. */
const SLOT = 1

function circuit(memory = createSlotMemory(2, false), slot = SLOT) {
  const state = { verdict: DOWN, asked: 0, answered: Promise.resolve(), changes: [] as (string | undefined)[] }
  const service = withCircuit(
    {
      kind: 'webhook',
      destination: 'k',
      masks: true,
      async judge() {
        state.asked++
        const { verdict } = state
        await state.answered
        return verdict
      },
    },
    new Circuit(memory, slot, (cause) => state.changes.push(cause)),
  )
  const { call } = fakeCall(() => 'timeout')
  const judge = (more = {}) => service.judge(question(['x']), around(call, more))
  return { state, judge, isOpen: () => isCircuitOpen(memory, slot) }
}

test('after five failures in a row, one probe a second is asked', async () => {
  const { state, judge } = circuit()
  for (let each = 0; each < 5; each++) expect(await judge()).toEqual(DOWN)
  expect(await judge()).toEqual(OPEN)
  expect(state.asked).toBe(5)
  await time.pass(999)
  expect(await judge()).toEqual(OPEN)
  await time.pass(1)
  expect(await Promise.all([judge(), judge(), judge()])).toEqual([DOWN, OPEN, OPEN])
  await time.pass(1000)
  state.verdict = PASS
  expect(await judge()).toEqual(PASS)
  expect(await Promise.all([judge(), judge()])).toEqual([PASS, PASS])
  expect(state.asked).toBe(9)
})

test('probes begin a second after the fifth failure, and each is asked a second after the one before', async () => {
  const { state, judge } = circuit()
  for (let each = 0; each < 4; each++) await judge()
  await time.pass(900)
  await judge()
  await time.pass(999)
  expect(await judge()).toEqual(OPEN)
  await time.pass(1)
  const answer = Promise.withResolvers<void>()
  state.answered = answer.promise
  const probe = judge()
  await time.pass(500)
  answer.resolve()
  expect(await probe).toEqual(DOWN)
  await time.pass(499)
  expect(await judge()).toEqual(OPEN)
  await time.pass(1)
  expect(await judge()).toEqual(DOWN)
})

test('a verdict in between begins the row again', async () => {
  const { state, judge } = circuit()
  for (let each = 0; each < 4; each++) await judge()
  state.verdict = { kind: 'reject' }
  await judge()
  state.verdict = DOWN
  for (let each = 0; each < 4; each++) await judge()
  expect(await judge()).toEqual(DOWN)
  expect(await judge()).toEqual(OPEN)
})

test('a verdict after one failure begins it again, too; a text that the service refuses does not', async () => {
  const { state, judge, isOpen } = circuit()
  await judge()
  state.verdict = PASS
  await judge()
  state.verdict = DOWN
  for (let each = 0; each < 4; each++) await judge()
  state.verdict = SPARED
  await judge()
  expect(isOpen()).toBe(false)
  state.verdict = DOWN
  await judge()
  expect(isOpen()).toBe(true)
})

test('clients that leave, texts that the service refuses, and requests without time left are no failures of the service', async () => {
  const { state, judge } = circuit()
  for (let each = 0; each < 9; each++) expect(await judge({ signal: AbortSignal.abort() })).toEqual(DOWN)
  state.verdict = SPARED
  for (let each = 0; each < 9; each++) expect(await judge()).toEqual(SPARED)
  expect(state.asked).toBe(18)
})

test('a request without a credential is no failure of the service, and uses up no probe', async () => {
  const { state, judge } = circuit()
  const unasked: ServiceVerdict = { kind: 'failed', detail: 'no credential', sparesService: 'unasked' }
  state.verdict = unasked
  for (let each = 0; each < 9; each++) expect(await judge()).toEqual(unasked)
  state.verdict = DOWN
  for (let each = 0; each < 5; each++) await judge()
  await time.pass(1000)
  state.verdict = unasked
  expect(await judge()).toEqual(unasked)
  state.verdict = PASS
  expect(await judge()).toEqual(PASS)
})

test('a probe with a text that the service refuses finds that it answers', async () => {
  const { state, judge } = circuit()
  for (let each = 0; each < 5; each++) await judge()
  await time.pass(1000)
  state.verdict = { kind: 'failed', detail: 'no time', sparesService: 'out-of-time' }
  expect(await judge()).toEqual(state.verdict)
  state.verdict = SPARED
  expect(await judge()).toEqual(OPEN)
  await time.pass(1000)
  expect(await judge()).toEqual(SPARED)
  state.verdict = PASS
  expect(await judge()).toEqual(PASS)
})

test('a probe of a client that leaves is made with the next question', async () => {
  const { state, judge } = circuit()
  for (let each = 0; each < 5; each++) await judge()
  await time.pass(1000)
  const leaving = new AbortController()
  const answer = Promise.withResolvers<void>()
  state.answered = answer.promise
  const probe = judge({ signal: leaving.signal })
  expect(await judge()).toEqual(OPEN)
  leaving.abort()
  answer.resolve()
  await probe
  state.verdict = PASS
  expect(await judge()).toEqual(PASS)
  expect(state.asked).toBe(7)
})

test('failures of many questions at a time open it as well', async () => {
  const { state, judge } = circuit()
  await Promise.all(Array.from({ length: 20 }, () => judge()))
  expect(await judge()).toEqual(OPEN)
  await time.pass(1000)
  expect(await judge()).toEqual(DOWN)
  expect(await judge()).toEqual(OPEN)
  expect(state.asked).toBe(21)
})

test('a circuit is open from the fifth failure to the answer to a probe, and each change is told once', async () => {
  const { state, judge, isOpen } = circuit()
  for (let each = 0; each < 4; each++) await judge()
  expect([isOpen(), state.changes]).toEqual([false, []])
  await Promise.all([judge(), judge()])
  expect([isOpen(), state.changes]).toEqual([true, ['down']])
  await time.pass(1000)
  await judge()
  expect([isOpen(), state.changes]).toEqual([true, ['down']])
  state.verdict = PASS
  await time.pass(1000)
  await judge()
  expect([isOpen(), state.changes]).toEqual([false, ['down', undefined]])
  await judge()
  expect(state.changes).toEqual(['down', undefined])
})

test('an answer about a text that the service refuses closes it, too', async () => {
  const { state, judge, isOpen } = circuit()
  for (let each = 0; each < 5; each++) await judge()
  await time.pass(1000)
  state.verdict = SPARED
  await judge()
  expect([isOpen(), state.changes]).toEqual([false, ['down', undefined]])
})

test('workers share a circuit: together they make one probe a second, and one of them tells of each change', async () => {
  const main = createSlotMemory(2, true, 3)
  const [one, other] = [0, 1].map((place) => circuit(openSlotMemory(buffersOf(main), place))) as [
    ReturnType<typeof circuit>,
    ReturnType<typeof circuit>,
  ]
  for (const { judge } of [one, other, one, other]) await judge()
  expect(isCircuitOpen(main, SLOT)).toBe(false)
  await one.judge()
  expect(isCircuitOpen(main, SLOT)).toBe(true)
  expect(await Promise.all([one.judge(), other.judge()])).toEqual([OPEN, OPEN])
  await time.pass(1000)
  expect(await Promise.all([one.judge(), other.judge(), one.judge()])).toEqual([DOWN, OPEN, OPEN])
  await time.pass(1000)
  other.state.verdict = PASS
  expect(await Promise.all([other.judge(), one.judge()])).toEqual([PASS, OPEN])
  expect(isCircuitOpen(main, SLOT)).toBe(false)
  expect(await one.judge()).toEqual(DOWN)
  expect([one.state.changes, other.state.changes]).toEqual([['down'], [undefined]])
})

test('each service has a circuit of its own', async () => {
  const memory = createSlotMemory(2, false)
  const one = circuit(memory, 0)
  const other = circuit(memory, 1)
  for (let each = 0; each < 5; each++) await one.judge()
  expect([one.isOpen(), other.isOpen()]).toEqual([true, false])
  await time.pass(900)
  for (let each = 0; each < 5; each++) await other.judge()
  await time.pass(100)
  expect(await Promise.all([one.judge(), other.judge()])).toEqual([DOWN, OPEN])
})

test('a probe of a client that leaves takes nothing back from another probe', async () => {
  const main = createSlotMemory(2, true, 3)
  const [one, other] = [0, 1].map((place) => circuit(openSlotMemory(buffersOf(main), place))) as [
    ReturnType<typeof circuit>,
    ReturnType<typeof circuit>,
  ]
  for (let each = 0; each < 5; each++) await one.judge()
  await time.pass(1000)
  const leaving = new AbortController()
  const answer = Promise.withResolvers<void>()
  one.state.answered = answer.promise
  const probe = one.judge({ signal: leaving.signal })
  await time.pass(1000)
  expect(await other.judge()).toEqual(DOWN)
  leaving.abort()
  answer.resolve()
  await probe
  expect(await other.judge()).toEqual(OPEN)
})
