import { expect, test } from 'vitest'
import type { KeySetChange } from '#engine/plan/check-plan.ts'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { KeySetAddress, KeySetState } from '#policies/shared/authentication/remote-key-set.ts'
import { eventually } from '#test/support/eventually.ts'
import type { WorkerPool } from '#workers/worker-pool.ts'
import { MainCalls } from './main-calls.ts'
import type { PlanPublisher } from './plan-publisher.ts'

const ADDRESS: KeySetAddress = { backend: 'ProxyBackend/default/keys', path: '/keys', cacheMs: 300_000 }
const ID = 'ProxyBackend/default/keys /keys'

test('a key set is reported while a policy wants it, and forgotten everywhere afterwards', async () => {
  const events: string[] = []
  const states: KeySetState[] = []
  let keySetChange: KeySetChange = { wanted: [ADDRESS], dropped: [] }
  const publisher = {
    version: 1,
    get keySetChange() {
      return keySetChange
    },
    calledBackend: () => undefined,
    keySetChanged: (state: KeySetState) => {
      states.push(state)
      return new Map([['ProxyPolicy/default/p', []]])
    },
    forgetKeySet: (id: string) => void events.push(`publisher forgets ${id}`),
  } as Partial<PlanPublisher> as PlanPublisher
  const workers = {
    publishKeySet: ({ id }: KeySetState) => void events.push(`workers get ${id}`),
    dropKeySet: (id: string) => void events.push(`workers drop ${id}`),
  } as Partial<WorkerPool> as WorkerPool
  const reader = new MetricsReader({ hide: (text) => text, folded: () => {}, firstFolded: () => {} })
  const metrics = new MetricsWriter((update) => reader.add('main', update))
  const recompiled: string[] = []
  const loop = {
    observed: () => {},
    recompiled: (found: ReadonlyMap<string, unknown>) => recompiled.push(...found.keys()),
  }
  const bug = (error: unknown) => events.push(`bug: ${error}`)
  const calls = new MainCalls({ publisher, workers, loop, metrics, bug })
  using _ = { [Symbol.dispose]: () => calls.close() }

  calls.planChanged()
  await eventually('the first attempt failed', () => calls.keySets.length > 0)
  expect(calls.keySets).toEqual([{ backend: ADDRESS.backend, path: '/keys', failure: 'no-endpoint' }])
  expect(states[0]).toMatchObject({ id: ID, text: undefined, failure: 'no-endpoint' })
  expect(recompiled[0]).toBe('ProxyPolicy/default/p')
  expect(events[0]).toBe(`workers get ${ID}`)
  expect(reader.text([])).toContain(
    'gatewright_key_set_fetches_total{backend="default/keys",path="/keys",outcome="failed"} 1',
  )

  events.length = 0
  keySetChange = { wanted: [], dropped: [ID] }
  calls.planChanged()
  expect(calls.keySets).toEqual([])
  expect(events).toEqual([`publisher forgets ${ID}`, `workers drop ${ID}`])
})
