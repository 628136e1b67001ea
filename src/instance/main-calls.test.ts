import { expect, test } from 'vitest'
import { SecretSet } from '#base/secret-set.ts'
import type { SourceChanges } from '#engine/plan/check-plan.ts'
import { MetricsReader } from '#observe/metrics/metrics-reader.ts'
import { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { KeySetAddress } from '#policies/shared/authentication/remote-key-set.ts'
import type { CredentialSource } from '#policies/shared/clouds/cloud-credential.ts'
import type { KeptUpdate } from '#policies/shared/kept/kept-copies.ts'
import { eventually } from '#test/support/eventually.ts'
import type { WorkerPool } from '#workers/worker-pool.ts'
import { MainCalls } from './main-calls.ts'
import type { PlanPublisher } from './plan-publisher.ts'

const ADDRESS: KeySetAddress = { backend: 'ProxyBackend/default/keys', path: '/keys', cacheMs: 300_000 }
const ID = 'ProxyBackend/default/keys /keys'

const SOURCE: CredentialSource = {
  id: 'azure',
  label: 'token of Azure from Secret default/azure',
  request: { cloud: 'cloudTwo', scope: 's', client: { clientId: 'c', tenantId: 't', secret: 'x' } },
}
const NOTHING: SourceChanges = { keySets: { wanted: [], dropped: [] }, credentials: { wanted: [], dropped: [] } }

function start() {
  const events: string[] = []
  const updates: KeptUpdate[] = []
  let sources = NOTHING
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
  const reports = {
    observed: () => {},
    recompiled: (found: ReadonlyMap<string, unknown>) => recompiled.push(...found.keys()),
  }
  const bug = (error: unknown) => events.push(`bug: ${error}`)
  const mesh = { material: undefined }
  const calls = new MainCalls({ publisher, workers, reports, metrics, mesh, secrets: new SecretSet(), bug })
  return {
    calls,
    events,
    updates,
    recompiled,
    metrics: () => reader.text([]),
    change: (changed: Partial<SourceChanges>) => {
      sources = { ...NOTHING, ...changed }
      calls.planChanged()
    },
    [Symbol.dispose]: () => calls.close(),
  }
}

test('a key set is reported while a policy wants it, and forgotten everywhere afterwards', async () => {
  using started = start()
  const { calls, events, updates, recompiled, metrics, change } = started
  change({ keySets: { wanted: [ADDRESS], dropped: [] } })
  await eventually('the first attempt failed', () => calls.keySets.length > 0)
  expect(calls.keySets).toEqual([
    { backend: ADDRESS.backend, path: '/keys', failure: 'no-endpoint: the backend does not exist' },
  ])
  expect(updates[0]).toMatchObject({
    of: 'key-set',
    state: { id: ID, value: undefined, failure: 'no-endpoint: the backend does not exist' },
  })
  expect(recompiled[0]).toBe('ProxyPolicy/default/p')
  expect(events[0]).toBe(`workers get key-set ${ID}`)
  expect(metrics()).toContain(
    'gatewright_key_set_fetches_total{backend="default/keys",path="/keys",outcome="failed"} 1',
  )

  events.length = 0
  change({ keySets: { wanted: [], dropped: [ID] } })
  expect(calls.keySets).toEqual([])
  expect(events).toEqual([`publisher forgets key-set ${ID}`, `workers drop key-set ${ID}`])
})

test('a credential that no policy wants any more is forgotten everywhere', () => {
  using started = start()
  const { calls, events, metrics, change } = started
  change({ credentials: { wanted: [SOURCE], dropped: [] } })
  change({ credentials: { wanted: [], dropped: ['azure'] } })
  expect([calls.credentials, events]).toEqual([
    [],
    ['publisher forgets credential azure', 'workers drop credential azure'],
  ])
  expect(metrics()).toContain(`gatewright_credential_expiry_timestamp_seconds{source="${SOURCE.label}"} 0`)
})
