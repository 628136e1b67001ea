import { expect, test } from 'vitest'
import { CallError } from './call.ts'
import { SingleFlight } from './single-flight.ts'

/** Calls that end when the test says so, each with the names of those who wait for it. */
function flights() {
  const flight = new SingleFlight<string>()
  const calls: { key: string; signal: AbortSignal; end: (result: string | Error) => void }[] = []
  const results: string[] = []
  const ask = (name: string, key = 'a') => {
    const leaving = new AbortController()
    const start = (signal: AbortSignal) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      calls.push({ key, signal, end: (result) => (result instanceof Error ? reject(result) : resolve(result)) })
      return promise
    }
    flight.run(key, start, leaving.signal).then(
      (result) => results.push(`${name}: ${result}`),
      (error: Error) => results.push(`${name}: ${error instanceof CallError ? error.failure : error.message}`),
    )
    return () => leaving.abort()
  }
  return { flight, calls, results, ask, settled: () => new Promise((resolve) => setImmediate(resolve)) }
}

const outcomes: readonly (readonly [title: string, result: string | Error, expected: string])[] = [
  ['its result', 'keys', 'keys'],
  ['its failure', new CallError('timeout'), 'timeout'],
  ['a bug', new TypeError('no'), 'no'],
]

for (const [title, result, expected] of outcomes) {
  test(`all who ask while a call is in progress get ${title}; then the next one calls again`, async () => {
    const { flight, calls, results, ask, settled } = flights()
    ask('first')
    ask('second')
    expect([calls.length, flight.isRunning('a')]).toEqual([1, true])
    calls[0]!.end(result)
    await settled()
    expect(results).toEqual([`first: ${expected}`, `second: ${expected}`])
    expect([calls[0]!.signal.aborted, flight.isRunning('a')]).toEqual([false, false])
    ask('third')
    expect(calls).toHaveLength(2)
  })
}

test('other keys have other calls', async () => {
  const { calls, results, ask, settled } = flights()
  ask('first', 'a')
  ask('second', 'b')
  expect(calls.map(({ key }) => key)).toEqual(['a', 'b'])
  calls[1]!.end('b')
  await settled()
  expect(results).toEqual(['second: b'])
})

test('a waiter that leaves gets its error at once, and the others still get the result', async () => {
  const { calls, results, ask, settled } = flights()
  const leave = ask('first')
  ask('second')
  leave()
  await settled()
  expect([results, calls[0]!.signal.aborted]).toEqual([['first: cancelled'], false])
  calls[0]!.end('keys')
  await settled()
  expect(results).toEqual(['first: cancelled', 'second: keys'])
})

test('when the last one leaves, the call is canceled; the next one makes a new call, and gets only its result', async () => {
  const { flight, calls, results, ask, settled } = flights()
  const leaveFirst = ask('first')
  const leaveSecond = ask('second')
  leaveFirst()
  expect(calls[0]!.signal.aborted).toBe(false)
  leaveSecond()
  expect([calls[0]!.signal.aborted, flight.isRunning('a')]).toEqual([true, false])
  ask('third')
  calls[0]!.end(new CallError('cancelled'))
  await settled()
  expect([calls.length, flight.isRunning('a')]).toEqual([2, true])
  calls[1]!.end('keys')
  await settled()
  expect(results).toEqual(['first: cancelled', 'second: cancelled', 'third: keys'])
})

test('leaving after the result changes nothing', async () => {
  const { calls, results, ask, settled } = flights()
  const leave = ask('first')
  calls[0]!.end('keys')
  await settled()
  leave()
  expect([results, calls[0]!.signal.aborted]).toEqual([['first: keys'], false])
})

test('an aborted signal causes no call', async () => {
  const { flight } = flights()
  const start = () => Promise.reject(new Error('called'))
  await expect(flight.run('a', start, AbortSignal.abort())).rejects.toEqual(new CallError('cancelled'))
  expect(flight.isRunning('a')).toBe(false)
})
