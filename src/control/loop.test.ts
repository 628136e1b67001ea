import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ApiObject, keyOf } from '#api/object.ts'
import { ObjectChanges } from '#api/object-change.ts'
import { clock } from '#base/clock.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { startControlLoop } from './loop.ts'
import type { ObjectStatus } from './translation.ts'
import { Translator } from './translator.ts'

const monotonic = clock.monotonic
let now = 0
let timers: { at: number; callback: () => void }[] = []

beforeEach(() => {
  now = 0
  timers = []
  clock.monotonic = () => now
})
afterEach(() => {
  clock.monotonic = monotonic
})

function setTimer(callback: () => void, afterMs: number) {
  const timer = { at: now + afterMs, callback }
  timers.push(timer)
  return () => {
    timers = timers.filter((other) => other !== timer)
  }
}

/** Lets time pass; timers fire in between. */
function pass(ms: number) {
  const end = now + ms
  for (;;) {
    const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
    if (next === undefined) break
    timers = timers.filter((timer) => timer !== next)
    now = next.at
    next.callback()
  }
  now = end
}

function gatewayOn(port: number): ApiObject {
  return admitObject({
    kind: 'Gateway',
    metadata: { name: 'main' },
    spec: { gatewayClassName: 'gatewright', listeners: [{ name: 'http', port, protocol: 'HTTP' }] },
  })
}

function startLoop(...first: ApiObject[]) {
  let objects: ApiObject[] = []
  const changes = new ObjectChanges()
  const put = (next: ApiObject[]) => {
    for (const object of objects) changes.note(keyOf(object), object)
    for (const object of next) changes.note(keyOf(object), undefined)
    objects = next
  }
  put(first)
  const deltas: PlanDelta[] = []
  const statuses: (readonly ObjectStatus[])[] = []
  const loop = startControlLoop({
    translator: new Translator(),
    takeChange: () => changes.take(new Map(objects.map((object) => [keyOf(object), object]))),
    publishPlan: (delta) => {
      deltas.push(delta)
      return new Map()
    },
    publishStatuses: (changed) => statuses.push(changed),
    setTimer,
  })
  const change = (object: ApiObject) => {
    put([object])
    loop.changed()
  }
  return { loop, deltas, statuses, change }
}

test('changes are translated together after 10 ms of quiet', () => {
  const { deltas, change } = startLoop(gatewayOn(1))
  change(gatewayOn(8080))
  pass(9)
  change(gatewayOn(8081))
  pass(9)
  expect(deltas).toEqual([])
  pass(1)
  expect(deltas).toMatchObject([{ version: 1, set: [{ kind: 'gateway' }, { port: 8081 }], removed: [] }])
})

test('a change waits no longer than a second, however many follow', () => {
  const { deltas, change } = startLoop(gatewayOn(1))
  for (let port = 1000; port < 1210; port++) {
    change(gatewayOn(port))
    pass(5)
  }
  expect(deltas).toHaveLength(1)
  expect(now).toBe(1050)
})

test('versions rise with every delta, and no change publishes nothing', () => {
  const { loop, deltas, statuses, change } = startLoop(gatewayOn(8080))
  loop.run()
  change(gatewayOn(8080))
  pass(10)
  expect(deltas.map(({ version }) => version)).toEqual([1])
  expect(statuses).toMatchObject([[{ kind: 'Gateway' }]])

  change(gatewayOn(8081))
  pass(10)
  expect(deltas.map(({ version }) => version)).toEqual([1, 2])
})

test('what the data plane reports reaches the statuses, and stays for the next translation', () => {
  const { loop, statuses, change } = startLoop(gatewayOn(8080))
  loop.run()
  loop.bound(new Map([['Listener/default/main/http', { state: 'bound' }]]))
  expect(JSON.stringify(statuses[1])).toContain('"Programmed","status":"True"')
  change(gatewayOn(8080))
  pass(10)
  expect(statuses).toHaveLength(2)
})

test('problems found by compiling reach the statuses', () => {
  const policy = admitObject({
    kind: 'ProxyPolicy',
    metadata: { name: 'p' },
    spec: {
      targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }],
      traffic: { csrf: {} },
    },
  })
  const problem = {
    origin: policy.origin,
    path: 'spec.traffic.csrf',
    code: 'bad',
    message: 'no',
    severity: 'error',
  } as const
  const seen: unknown[] = []
  const objects = [gatewayOn(8080), policy]
  const loop = startControlLoop({
    translator: new Translator(),
    takeChange: () => ({ set: objects.splice(0), removed: [] }),
    publishPlan: () => new Map([['ProxyPolicy/default/p', [problem]]]),
    publishStatuses: (changed, findings) => seen.push([changed.map(({ kind }) => kind), findings]),
    setTimer,
  })
  loop.run()
  loop.run()
  expect(seen).toEqual([[['Gateway', 'ProxyPolicy'], [problem]]])
})

test('a closed loop publishes nothing more', () => {
  const { loop, deltas, statuses, change } = startLoop(gatewayOn(8080))
  change(gatewayOn(8081))
  loop.close()
  pass(2000)
  loop.changed()
  loop.run()
  loop.bound(new Map())
  expect([deltas, statuses, timers]).toEqual([[], [], []])
})

const backend = (port: number) =>
  admitObject({ kind: 'ProxyBackend', metadata: { name: 'b' }, spec: { static: { host: '127.0.0.1', port } } })

test('what traffic shows about a backend is in its status until there is another plan', () => {
  const { loop, statuses, change } = startLoop(backend(1))
  loop.run()
  const fact = { backend: 'ProxyBackend/default/b', code: 'backend-not-http2', endpoint: '127.0.0.1:1' } as const
  const accepted = { type: 'Accepted', status: 'True' }
  expect(statuses).toMatchObject([[{ name: 'b', status: { conditions: [accepted] } }]])
  loop.observed(1, fact)
  const message =
    'the server at 127.0.0.1:1 does not speak the HTTP/2 that requests are sent in: set policies.http.version to HTTP1'
  const told = { type: 'Reachable', status: 'False', reason: 'NotHTTP2', message }
  expect(statuses.at(-1)).toMatchObject([{ name: 'b', status: { conditions: [accepted, told] } }])
  loop.observed(1, { ...fact, endpoint: '127.0.0.1:2' })
  expect(statuses).toHaveLength(2)
  change(backend(2))
  pass(10)
  expect(statuses).toHaveLength(3)
  expect(statuses.at(-1)?.[0]?.status.conditions).toHaveLength(1)
  loop.observed(1, fact)
  expect(statuses, 'seen on the plan before').toHaveLength(3)
})

test('what traffic shows about something that is not there is told to nobody', () => {
  const { loop, statuses } = startLoop(backend(1))
  loop.run()
  loop.observed(1, { backend: 'ProxyBackend/default/other', code: 'backend-not-http2', endpoint: 'e' })
  expect(statuses.slice(1).flat()).toEqual([])
})
