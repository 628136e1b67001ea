import { expect, onTestFinished, test } from 'vitest'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import type { Term } from './fenced-api.ts'
import type { Members } from './kubeconfig.ts'
import { LeaderLease } from './leader-lease.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/ns/leases'

interface Stored extends Members {
  readonly metadata: { readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: Members
}

/** An API with one Lease, which refuses writes to older versions of it. */
class LeaseApi {
  stored: Stored | undefined
  asked: string[] = []
  #version = 0

  #put(object: object): { status: number; body: Stored } {
    const { metadata } = object as Stored
    this.stored = { ...(object as Stored), metadata: { ...metadata, resourceVersion: String(++this.#version) } }
    return { status: 200, body: this.stored }
  }

  /** The API as one replica reaches it. */
  forReplica() {
    const replica = {
      isAway: false,
      /** Answers are late: they come when a test says so. */
      late: undefined as (() => Promise<void>) | undefined,
      get: async (path: string) => {
        this.#ask(replica, `GET ${path}`)
        return this.stored === undefined ? { status: 404, body: {} } : { status: 200, body: this.stored }
      },
      create: async (path: string, object: object) => {
        this.#ask(replica, `POST ${path}`)
        if (this.stored !== undefined) throw conflict()
        return this.#put(object)
      },
      replace: async (path: string, object: object) => {
        this.#ask(replica, `PUT ${path}`)
        if (this.stored === undefined) return { status: 404, body: {} }
        if ((object as Stored).metadata.resourceVersion !== this.stored.metadata.resourceVersion) throw conflict()
        const answer = this.#put(object)
        await replica.late?.()
        return answer
      },
    }
    return replica
  }

  /** Somebody edits the record. */
  edit(spec: Members): void {
    this.#put({ ...this.stored!, spec: { ...this.stored!.spec, ...spec } })
  }

  remove(): void {
    this.stored = undefined
  }

  #ask({ isAway }: { readonly isAway: boolean }, request: string): void {
    if (isAway) throw new ApiUnreadable('the API is away')
    this.asked.push(request)
  }
}

function conflict(): ApiUnreadable {
  return new ApiUnreadable('conflict', { status: 409 })
}

/** A replica that tries to lead. */
function replica(api: LeaseApi, name: string) {
  const client = api.forReplica()
  const terms: Term[] = []
  const followed: (string | undefined)[] = []
  const failures: string[] = []
  const bugs: unknown[] = []
  const lease = new LeaderLease({
    client,
    namespace: 'ns',
    name: 'gatewright',
    identity: name,
    address: () => `https://${name}:9978`,
    gained: (term) => terms.push(term),
    followed: (address) => followed.push(address),
    failed: (message) => failures.push(message),
    reportBug: (error) => bugs.push(error),
  })
  onTestFinished(() => lease.close())
  lease.start()
  return { lease, client, terms, followed, failures, bugs, leads: () => terms.at(-1)?.leads === true }
}

test('the first replica creates the Lease and leads; the others follow it, and renewals change nothing', async () => {
  using time = new VirtualTime(Date.parse('2030-01-01T00:00:00.123Z'))
  const api = new LeaseApi()
  const a = replica(api, 'a')
  await time.pass(0)
  const b = replica(api, 'b')
  await time.pass(0)
  expect(api.stored).toMatchObject({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace: 'ns',
      name: 'gatewright',
      annotations: { 'gatewright.dev/leader-address': 'https://a:9978' },
    },
    spec: {
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2030-01-01T00:00:00.123000Z',
      renewTime: '2030-01-01T00:00:00.123000Z',
      leaseTransitions: 0,
    },
  })
  await time.pass(60_000)
  expect(api.stored!.spec).toMatchObject({
    acquireTime: '2030-01-01T00:00:00.123000Z',
    renewTime: '2030-01-01T00:01:00.123000Z',
  })
  expect([a.leads(), a.terms.length, a.lease.leads, b.terms.length, b.lease.leads]).toEqual([true, 1, true, 0, false])
  expect([a.followed, b.followed]).toEqual([[], ['https://a:9978']])
  expect([...a.failures, ...b.failures, ...a.bugs, ...b.bugs]).toEqual([])
})

test('a leader that is gone is replaced 15 s after its last renewal was seen, whatever its clock says', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  const a = replica(api, 'a')
  await time.pass(1000)
  const b = replica(api, 'b')
  await time.pass(0)
  a.client.isAway = true
  // Times in the record are for people.
  api.edit({ renewTime: '2020-01-01T00:00:00.000000Z' })
  // It is seen within 2 s.
  await time.pass(16_900)
  expect(b.terms.length).toBe(0)
  await time.pass(2000)
  expect([b.leads(), b.followed]).toEqual([true, ['https://a:9978', undefined]])
  expect(api.stored!.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
})

test('a leader that cannot renew gives up after 10 s, before another one may lead, and follows later', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  const a = replica(api, 'a')
  await time.pass(0)
  const b = replica(api, 'b')
  await time.pass(0)
  const [term] = a.terms
  a.client.isAway = true
  await time.pass(9999)
  expect([term!.leads, term!.signal.aborted]).toEqual([true, false])
  await time.pass(1)
  expect([term!.leads, term!.signal.aborted, b.leads()]).toEqual([false, true, false])
  await time.pass(8000)
  expect(b.leads()).toBe(true)
  a.client.isAway = false
  await time.pass(2000)
  expect([a.terms.length, a.followed]).toEqual([1, ['https://b:9978']])
  expect(a.failures).toEqual(['the API is away; without its lease, this replica writes nothing'])
})

test('a process that was paused does not lead, even before a timer of it fires', async () => {
  using time = new VirtualTime()
  const a = replica(new LeaseApi(), 'a')
  await time.pass(0)
  const { clock } = await import('#base/clock.ts')
  const { monotonic } = clock
  clock.monotonic = () => monotonic() + 10_000
  expect([a.leads(), a.lease.leads, a.terms[0]!.signal.aborted]).toEqual([false, false, false])
})

test('a renewal counts from when it was sent: an answer that took 10 s gives nothing', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  const a = replica(api, 'a')
  await time.pass(0)
  const answers: (() => void)[] = []
  a.client.late = () => new Promise((resolve) => void answers.push(resolve))
  await time.pass(2000)
  expect(answers).toHaveLength(1)
  await time.pass(7999)
  expect(a.leads()).toBe(true)
  await time.pass(1)
  expect(a.leads()).toBe(false)
  a.client.late = undefined
  // Sent at 2 s, answered at 12 s.
  await time.pass(2000)
  answers[0]!()
  await time.pass(0)
  expect(a.leads()).toBe(false)
  await time.pass(2000)
  expect([a.leads(), a.terms.length]).toEqual([true, 2])
})

test('a leader that stops gives its lease back, so that the next one does not wait', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  const a = replica(api, 'a')
  await time.pass(0)
  const b = replica(api, 'b')
  await time.pass(0)
  await a.lease.close()
  expect([a.leads(), a.terms[0]!.signal.aborted]).toEqual([false, true])
  expect(api.stored!.spec).not.toHaveProperty('holderIdentity')
  await time.pass(2000)
  expect(b.leads()).toBe(true)
  const before = api.asked.length
  await time.pass(2000)
  expect(api.asked.slice(before)).toEqual([`PUT ${LEASES}/gatewright`])
})

test('a replica that follows leaves the lease alone when it stops', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  replica(api, 'a')
  await time.pass(0)
  const b = replica(api, 'b')
  await time.pass(0)
  await b.lease.close()
  expect(api.stored!.spec.holderIdentity).toBe('a')
})

test('who is deposed by an edit of the Lease stops at the next renewal', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  const a = replica(api, 'a')
  await time.pass(0)
  api.edit({ holderIdentity: 'somebody' })
  await time.pass(2000)
  expect([a.leads(), a.terms[0]!.signal.aborted, a.failures]).toEqual([false, true, []])
})

test('a Lease that was deleted is created again', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  const a = replica(api, 'a')
  await time.pass(0)
  api.remove()
  await time.pass(4000)
  expect([api.stored!.spec.holderIdentity, a.leads(), a.terms.length]).toEqual(['a', true, 1])
})

test('of two replicas that take over at the same time, one leads', async () => {
  using time = new VirtualTime()
  const api = new LeaseApi()
  const all = ['a', 'b', 'c'].map((name) => replica(api, name))
  await time.pass(60_000)
  expect(all.filter(({ leads }) => leads())).toHaveLength(1)
  all.find(({ leads }) => leads())!.client.isAway = true
  await time.pass(60_000)
  expect(all.map(({ terms }) => terms.length).sort()).toEqual([0, 1, 1])
})

test('until the Lease was read once, the reason is told; a later outage is none', async () => {
  using time = new VirtualTime()
  const a = replica(new LeaseApi(), 'a')
  a.client.isAway = true
  expect(a.lease.whyUnknown).toBe('Lease ns/gatewright: it was not read yet')
  await time.pass(2000)
  expect(a.lease.whyUnknown).toBe('Lease ns/gatewright: the API is away')
  a.client.isAway = false
  await time.pass(2000)
  expect(a.lease.whyUnknown).toBeUndefined()
  a.client.isAway = true
  await time.pass(60_000)
  expect([a.lease.whyUnknown, a.leads()]).toEqual([undefined, false])
})
