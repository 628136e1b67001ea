import { expect, test } from 'vitest'
import type { SourceChanges } from '#engine/plan/check-plan.ts'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { KeySetAddress } from '#policies/shared/authentication/remote-key-set.ts'
import type { KeptUpdate } from '#policies/shared/kept/kept-copies.ts'
import { eventually } from '#test/support/eventually.ts'
import type { WorkerPool } from '#workers/worker-pool.ts'
import { MainCalls } from './main-calls.ts'
import type { PlanPublisher } from './plan-publisher.ts'

const ADDRESS: KeySetAddress = { backend: 'ProxyBackend/default/keys', path: '/keys', cacheMs: 300_000 }
const ID = 'ProxyBackend/default/keys /keys'

test('a key set is reported while a policy wants it, and forgotten everywhere afterwards', async () => {
  const events: string[] = []
  const updates: KeptUpdate[] = []
  const credentials = { wanted: [], dropped: [] }
  let sources: SourceChanges = { keySets: { wanted: [ADDRESS], dropped: [] }, credentials }
  const publisher = {
    version: 1,
    get sources() {
      return sources
    },
    calledBackend: () => undefined,
    keptChanged: (update: KeptUpdate) => {
      updates.push(update)
      return new Map([['ProxyPolicy/default/p', []]])
    },
    forgetKept: (of: string, id: string) => void events.push(`publisher forgets ${of} ${id}`),
  } as Partial<PlanPublisher> as PlanPublisher
  const workers = {
    publishKept: ({ of, state }: KeptUpdate) => void events.push(`workers get ${of} ${state.id}`),
    dropKept: (of: string, id: string) => void events.push(`workers drop ${of} ${id}`),
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
  expect(updates[0]).toMatchObject({ of: 'key-set', state: { id: ID, value: undefined, failure: 'no-endpoint' } })
  expect(recompiled[0]).toBe('ProxyPolicy/default/p')
  expect(events[0]).toBe(`workers get key-set ${ID}`)
  expect(reader.text([])).toContain(
    'gatewright_key_set_fetches_total{backend="default/keys",path="/keys",outcome="failed"} 1',
  )

  events.length = 0
  sources = { keySets: { wanted: [], dropped: [ID] }, credentials }
  calls.planChanged()
  expect(calls.keySets).toEqual([])
  expect(events).toEqual([`publisher forgets key-set ${ID}`, `workers drop key-set ${ID}`])
})
