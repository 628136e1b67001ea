import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { type Output, PacedOutput } from './paced-output.ts'

let nowMs: number
/** Timers that have not fired. */
let timers: { readonly atMs: number; readonly run: () => void }[]

beforeEach(() => {
  nowMs = 0
  timers = []
  vi.spyOn(clock, 'monotonic').mockImplementation(() => nowMs)
  vi.spyOn(clock, 'after').mockImplementation((ms, run) => {
    timers.push({ atMs: nowMs + ms, run })
    return { cancel: () => {} }
  })
})

const paced: PacedOutput[] = []
afterEach(() => {
  for (const one of paced.splice(0)) one.close()
})

/** Watches whose writes take a tenth of a millisecond each. */
function watches(count: number) {
  const output = new PacedOutput()
  paced.push(output)
  const written: string[] = []
  const all = Array.from({ length: count }, (_, at) => {
    let waiting: number[] = []
    const one: Output = {
      flush() {
        nowMs += 0.1
        written.push(`${at}: ${waiting.join()}`)
        waiting = []
      },
    }
    const take = (event: number) => {
      waiting.push(event)
      output.add(one)
    }
    return { one, take }
  })
  const send = (event: number) => {
    for (const { take } of all) take(event)
    output.flush()
  }
  return { output, written, all, send }
}

const endOfTurn = () => new Promise((resolve) => setImmediate(resolve))

async function fireTimer(): Promise<void> {
  const [next] = timers.splice(0, 1)
  nowMs = Math.max(nowMs, next!.atMs)
  next!.run()
  await endOfTurn()
}

test('the output of few watches leaves at once', () => {
  const { written, send } = watches(3)
  send(1)
  expect(written).toEqual(['0: 1', '1: 1', '2: 1'])
})

test('after output, there is a pause as long as it took', async () => {
  const { written, send } = watches(3)
  send(1)
  await endOfTurn()
  send(2)
  expect(written).toHaveLength(3)
  expect(timers.map(({ atMs }) => atMs)).toEqual([expect.closeTo(0.6)])
  await fireTimer()
  expect(written.slice(3)).toEqual(['0: 2', '1: 2', '2: 2'])
  expect(timers).toEqual([])
})

test('many watches are written in turns; what arrives meanwhile leaves in one write, in order', async () => {
  const { written, send } = watches(250)
  send(1)
  expect(written).toHaveLength(100)
  send(2)
  await endOfTurn()
  expect(written).toHaveLength(100)
  send(3)
  await fireTimer()
  expect(written.slice(100)).toEqual([...Array.from({ length: 100 }, (_, at) => `${at + 100}: 1,2,3`)])
  await fireTimer()
  await fireTimer()
  expect(written.slice(200)).toEqual([
    ...Array.from({ length: 50 }, (_, at) => `${at + 200}: 1,2,3`),
    ...Array.from({ length: 100 }, (_, at) => `${at}: 2,3`),
  ])
  expect(timers).toEqual([])
})

test('what has left or is closed is not written', async () => {
  const { output, written, all, send } = watches(2)
  all[0]!.take(1)
  output.remove(all[0]!.one)
  output.flush()
  expect(written).toEqual([])
  output.close()
  send(2)
  await endOfTurn()
  expect([written, timers]).toEqual([[], []])
})
