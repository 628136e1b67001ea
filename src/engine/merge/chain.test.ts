import { expect, test } from 'vitest'
import { type Outcome, reject } from '#exchange/outcome.ts'
import type { TraceStep } from '#exchange/trace.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith, runContext } from '#policies/shared/testing.ts'
import { policyItem } from '../testing.ts'
import { buildChain, type ChainLink, Progress, runChain, runResponses } from './chain.ts'

const refusal = reject('authorization-denied')

interface Results {
  readonly request?: Outcome | Promise<Outcome>
  readonly response?: Outcome
}

/** A chain whose steps record their field and have the given results; a field without a result has no step. */
function chainOf(steps: Readonly<Record<string, Results | undefined>>, ran: string[] = []) {
  const links = Object.entries(steps).map(([field, results]): ChainLink => {
    const source = policyItem(`traffic.${field}`, 'Gateway/default/main', {})
    return {
      merged: { field, sources: [source], overridden: [] },
      run: {
        ...(results !== undefined &&
          'request' in results && {
            request: () => {
              ran.push(field)
              return results.request as Outcome
            },
          }),
        ...(results !== undefined &&
          'response' in results && {
            response: () => {
              ran.push(`${field} back`)
              return results.response
            },
          }),
      },
    }
  })
  return { chain: buildChain('post-routing', links, ['c', 'b', 'a']), ran }
}

const go: Results = { request: undefined }
const both: Results = { request: undefined, response: undefined }

async function run(steps: Readonly<Record<string, Results | undefined>>) {
  const { chain, ran } = chainOf(steps)
  const progress = new Progress()
  const outcome = await runChain(chain, exchangeWith(), progress)
  return { ran, outcome, reached: progress.reached }
}

test('the progress has the time of each link, and the request the link that decided', async () => {
  let nowMs = 10
  const exchange = exchangeWith()
  exchange.context = runContext({ monotonic: () => nowMs++ })
  const { chain } = chainOf({ a: { request: Promise.resolve<Outcome>(undefined) }, b: { request: refusal }, c: go })
  const progress = new Progress()
  await runChain(chain, exchange, progress)
  expect(progress).toMatchObject({ reached: 1, timesMs: [10, 11, 12, NaN] })
  expect(exchange.decidedBy).toBe(chain.policies[1])
  expect(exchange.decidedBy).toMatchObject({
    stage: 'post-routing',
    field: 'b',
    sources: [{ origin: { kind: 'ProxyPolicy' }, path: 'spec.traffic.b' }],
  })
  progress.restart()
  expect(progress).toEqual(new Progress())
})

test('a response step that replaces the response has decided, unless the response refuses the whole request', () => {
  const { chain } = chainOf({ a: both, b: { response: refusal } })
  const exchange = exchangeWith({ status: 200 })
  exchange.responseIsRefusal = true
  runResponses(chain, exchange, 1)
  expect(exchange.decidedBy).toBeUndefined()
  exchange.responseIsRefusal = false
  runResponses(chain, exchange, 1)
  expect(exchange.decidedBy).toMatchObject({ stage: 'response', field: 'b' })
})

test('steps run in order; synchronous ones without a promise', () => {
  const { chain, ran } = chainOf({ a: go, b: undefined, c: go })
  expect(runChain(chain, exchangeWith(), new Progress())).toBeUndefined()
  expect(ran).toEqual(['a', 'c'])
})

test('a refusal ends the chain, and later steps do not run', async () => {
  expect(await run({ a: go, b: { request: refusal }, c: go })).toEqual({
    ran: ['a', 'b'],
    outcome: refusal,
    reached: 1,
  })
})

test('later steps wait for an asynchronous step', async () => {
  const later = { request: new Promise<Outcome>((resolve) => setImmediate(resolve, undefined)) }
  const { chain, ran } = chainOf({ a: go, b: later, c: go })
  const outcome = runChain(chain, exchangeWith(), new Progress())
  expect(outcome).toBeInstanceOf(Promise)
  expect(ran).toEqual(['a', 'b'])
  expect(await outcome).toBeUndefined()
  expect(ran).toEqual(['a', 'b', 'c'])
})

test('after the request is abandoned, an asynchronous step does not continue the chain', async () => {
  const leave = new AbortController()
  const { chain, ran } = chainOf({ a: { request: new Promise((resolve) => setImmediate(resolve, undefined)) }, b: go })
  const exchange = exchangeWith()
  exchange.context = runContext({ signal: leave.signal })
  let settled = false
  void Promise.resolve(runChain(chain, exchange, new Progress())).finally(() => {
    settled = true
  })
  leave.abort()
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect([ran, settled]).toEqual([['a'], false])
})

test('an asynchronous refusal ends the chain', async () => {
  const late = { request: Promise.resolve<Outcome>(refusal) }
  expect(await run({ a: late, b: go })).toEqual({ ran: ['a'], outcome: refusal, reached: 0 })
})

test('an asynchronous step that throws rejects the promise', async () => {
  await expect(run({ a: { request: Promise.reject(new Error('a bug')) }, b: go })).rejects.toThrow('a bug')
})

test('an empty chain proceeds and reaches nothing', async () => {
  expect(await run({})).toEqual({ ran: [], outcome: undefined, reached: -1 })
})

test.each([
  [-1, []],
  [0, ['a back']],
  [1, ['b back', 'a back']],
  [2, ['c back', 'b back', 'a back']],
])('after reaching link %i, only its response steps and earlier ones run, in response order', (reached, expected) => {
  const { chain, ran } = chainOf({ a: both, b: both, c: both })
  runResponses(chain, exchangeWith({ status: 200 }), reached)
  expect(ran).toEqual(expected)
})

test('on a refusal, the response steps of the whole phase run', () => {
  const { chain, ran } = chainOf({ a: both, b: both, c: both })
  const exchange = exchangeWith({ status: 429 })
  exchange.responseIsRefusal = true
  runResponses(chain, exchange, 0)
  expect(ran).toEqual(['c back', 'b back', 'a back'])
})

test('all response steps run even when one replaces the response, and the last replacement is used', () => {
  const first = reject('response-too-large')
  const { chain, ran } = chainOf({ a: { response: refusal }, b: { response: first }, c: both })
  expect(runResponses(chain, exchangeWith({ status: 200 }), 2)).toBe(refusal)
  expect(ran).toEqual(['c back', 'b back', 'a back'])
})

test('a chain reads the union of the inputs of its links', () => {
  const link = (run: ChainLink['run']): ChainLink => ({
    merged: { field: 'a', sources: [], overridden: [] },
    run,
  })
  const chain = buildChain('backend', [link({}), link({ readsRequestBody: true })], [])
  expect([chain.readsRequestBody, chain.readsResponseBody]).toEqual([true, false])
  const other = buildChain('backend', [link({ readsResponseBody: true })], [])
  expect([other.readsRequestBody, other.readsResponseBody]).toEqual([false, true])
})

test('a trace has every step, its verdict and its origin', async () => {
  const { chain } = chainOf({
    a: both,
    b: { request: Promise.resolve<Outcome>(reject('filter-failed', { detail: 'why' })) },
  })
  const steps: TraceStep[] = []
  const exchange = exchangeWith({ status: 200 })
  exchange.trace = {
    isCalling: false,
    note: () => {},
    step: (step) => steps.push(step),
    limit: () => {},
    callout: () => {},
    credential: () => {},
    copy: () => {},
  }
  await runChain(chain, exchange, new Progress())
  runResponses(chain, exchange, 1)
  const origins = (field: string) => [
    { origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'policy' }, path: `spec.traffic.${field}` },
  ]
  expect(steps).toEqual([
    { stage: 'post-routing', name: 'a', verdict: 'proceed', detail: undefined, origins: origins('a') },
    { stage: 'post-routing', name: 'b', verdict: 'refuse', detail: 'why', origins: origins('b') },
    { stage: 'response', name: 'a', verdict: 'proceed', detail: undefined, origins: origins('a') },
  ])
})

test('a trace tells a configured response from a refusal', async () => {
  const answer: Outcome = { kind: 'answer', head: Head.response(204), body: undefined }
  const { chain } = chainOf({ a: { request: answer, response: answer } })
  const verdicts: string[] = []
  const exchange = exchangeWith({ status: 200 })
  exchange.trace = {
    isCalling: false,
    note: () => {},
    step: ({ stage, verdict, detail }) => verdicts.push(`${stage} ${verdict} ${detail}`),
    limit: () => {},
    callout: () => {},
    credential: () => {},
    copy: () => {},
  }
  await runChain(chain, exchange, new Progress())
  runResponses(chain, exchange, 0)
  expect(verdicts).toEqual(['post-routing answer undefined', 'response answer undefined'])
})

test('a limit in any step refuses regardless of the decision of the step, and later steps do not run', async () => {
  for (const outcome of [undefined, refusal]) {
    const { chain, ran } = chainOf({ a: { request: outcome }, b: go })
    const exchange = exchangeWith()
    exchange.exceeded = 'spec.x: too many steps'
    expect(await runChain(chain, exchange, new Progress())).toMatchObject({
      code: 'expression-exceeded-request',
      detail: 'spec.x: too many steps',
    })
    expect([ran, exchange.exceeded]).toEqual([['a'], undefined])
  }
  const { chain } = chainOf({ a: { request: Promise.resolve(undefined) } })
  const exchange = exchangeWith()
  exchange.exceeded = 'x'
  expect(await runChain(chain, exchange, new Progress())).toMatchObject({ code: 'expression-exceeded-request' })
})

test('a limit in a response step replaces the response', () => {
  const { chain } = chainOf({ a: both })
  const exchange = exchangeWith()
  exchange.exceeded = 'x'
  expect(runResponses(chain, exchange, 0)).toMatchObject({ code: 'expression-exceeded-response', detail: 'x' })
})
