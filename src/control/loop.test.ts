import { expect, test } from 'vitest'
import type { ApiObject } from '#api/object.ts'
import type { PlanDelta } from '#plan/delta.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { startControlLoop } from './loop.ts'
import type { ObjectStatus } from './translation.ts'
import { Translator } from './translator.ts'

function gatewayOn(port: number, hostname?: string): ApiObject {
  return named('main', port, hostname)
}

function named(name: string, port: number, hostname?: string): ApiObject {
  return admitObject({
    kind: 'Gateway',
    metadata: { name },
    spec: {
      gatewayClassName: 'gatewright',
      listeners: [{ name: 'http', port, protocol: 'HTTP', ...(hostname && { hostname }) }],
    },
  })
}

function startLoop(...first: ApiObject[]) {
  const deltas: PlanDelta[] = []
  const statuses: (readonly ObjectStatus[])[] = []
  const withdrawn: string[] = []
  const loop = startControlLoop({
    translator: new Translator(),
    plans: {
      take(delta) {
        deltas.push(delta)
        return new Map()
      },
    },
    publishStatuses: (changed) => {
      statuses.push(changed.written)
      withdrawn.push(...changed.withdrawn)
    },
  })
  const put = (...set: ApiObject[]) => loop.apply({ set, removed: [] })
  put(...first)
  return { loop, deltas, statuses, withdrawn, put }
}

test('every delta increments the version, and nothing is published without a change', () => {
  const { deltas, statuses, put } = startLoop(gatewayOn(8080))
  put(gatewayOn(8080))
  expect(deltas).toMatchObject([{ version: 1, set: [{ kind: 'gateway' }, { port: 8080 }], removed: [] }])
  expect(statuses).toMatchObject([[{ kind: 'Gateway' }]])

  put(gatewayOn(8081))
  expect(deltas.slice(1)).toMatchObject([{ version: 2, set: [{ port: 8081 }], removed: [] }])
})

test('bindings reported by the data plane appear in statuses and outlive a translation', () => {
  const { loop, statuses, put } = startLoop(gatewayOn(8080))
  loop.bound(1, new Map([['127.0.0.1:8080', { state: 'bound' }]]))
  expect(JSON.stringify(statuses[1])).toContain('"Programmed","status":"True"')
  put(gatewayOn(8080))
  expect(statuses).toHaveLength(2)
})

test('a listener that moves to another port waits for the data plane', () => {
  const { loop, statuses, put } = startLoop(gatewayOn(8080))
  loop.bound(1, new Map([['127.0.0.1:8080', { state: 'bound' }]]))
  put(gatewayOn(8081))
  expect(JSON.stringify(statuses.at(-1))).toContain('"Programmed","status":"Unknown"')
  loop.bound(2, new Map([['127.0.0.1:8081', { state: 'bound' }]]))
  expect(JSON.stringify(statuses.at(-1))).toContain('"Programmed","status":"True"')
})

test('a listener that changes at its port waits for a data plane that has the change', () => {
  const { loop, statuses, put } = startLoop(gatewayOn(8080))
  const bound = new Map([['127.0.0.1:8080', { state: 'bound' }]] as const)
  const programmed = () => {
    const gateway = statuses.flat().findLast(({ kind }) => kind === 'Gateway')
    return /"Programmed","status":"(\w+)"/.exec(JSON.stringify(gateway))?.[1]
  }
  loop.bound(1, bound)
  expect(programmed()).toBe('True')
  put(gatewayOn(8080, 'a.test'))
  expect(programmed()).toBe('Unknown')
  loop.bound(1, bound)
  expect(programmed()).toBe('Unknown')
  loop.bound(2, bound)
  expect(programmed()).toBe('True')
  // Changes of others do not concern it.
  put(backend(1))
  loop.bound(2, bound)
  expect(programmed()).toBe('True')
})

test('what is reported together with a change is in the first statuses', () => {
  const { loop, statuses } = startLoop()
  loop.together(() => {
    loop.apply({ set: [gatewayOn(8080)], removed: [] })
    loop.bound(1, new Map([['127.0.0.1:8080', { state: 'bound' }]]))
  })
  expect(JSON.stringify(statuses.at(-1))).toContain('"Programmed","status":"True"')
  expect(JSON.stringify(statuses)).not.toContain('"Programmed","status":"Unknown"')
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
    code: 'no-effect',
    message: 'no',
    severity: 'error',
  } as const
  const seen: unknown[] = []
  const loop = startControlLoop({
    translator: new Translator(),
    plans: { take: () => new Map([['ProxyPolicy/default/p', [problem]]]) },
    publishStatuses: (changed, findings) => seen.push([changed.written.map(({ kind }) => kind), findings]),
  })
  loop.apply({ set: [gatewayOn(8080), policy], removed: [] })
  loop.apply({ set: [], removed: [] })
  expect(seen).toEqual([[['Gateway', 'ProxyPolicy'], [problem]]])
})

test('statuses that are held back are published afterwards, all of them, and the plan goes on meanwhile', () => {
  const { loop, deltas, statuses, withdrawn, put } = startLoop(gatewayOn(8080))
  loop.holdStatuses(true)
  put(gatewayOn(8081), named('other', 8082))
  loop.apply({ set: [], removed: [gatewayOn(8081)] })
  expect(deltas).toHaveLength(3)
  // Findings are published alone.
  expect(statuses.slice(1).flat()).toEqual([])
  loop.holdStatuses(false)
  expect(statuses.at(-1)).toMatchObject([{ kind: 'Gateway', name: 'other' }])
  expect(withdrawn).toEqual(['Gateway/default/main'])
  loop.holdStatuses(true)
  loop.holdStatuses(false)
  expect(statuses.at(-1), 'what the API has may be of another replica').toMatchObject([{ name: 'other' }])
  loop.close()
  const before = statuses.length
  loop.holdStatuses(true)
  loop.holdStatuses(false)
  expect(statuses).toHaveLength(before)
})

test('a closed loop publishes nothing more', () => {
  const { loop, deltas, statuses, put } = startLoop(gatewayOn(8080), backend(1))
  const before = [deltas.length, statuses.length]
  loop.close()
  put(gatewayOn(8081))
  loop.bound(1, new Map([['127.0.0.1:8080', { state: 'bound' }]]))
  loop.refused(new Map([['Gateway/default/main', 'invalid']]))
  loop.observed(1, { backend: 'ProxyBackend/default/b', code: 'backend-not-http2', at: '127.0.0.1:1' })
  loop.recompiled(
    new Map([
      [
        'ProxyBackend/default/b',
        [
          {
            origin: { kind: 'ProxyBackend', namespace: 'default', name: 'b' },
            path: 'spec',
            code: 'cel-syntax',
            message: 'unexpected end',
            severity: 'error',
          },
        ],
      ],
    ]),
  )
  expect([deltas.length, statuses.length]).toEqual(before)
})

const backend = (port: number) =>
  admitObject({ kind: 'ProxyBackend', metadata: { name: 'b' }, spec: { static: { host: '127.0.0.1', port } } })

test('a fact from traffic is in the status of its backend until the plan changes', () => {
  const { loop, statuses, put } = startLoop(backend(1))
  const fact = { backend: 'ProxyBackend/default/b', code: 'backend-not-http2', at: '127.0.0.1:1' } as const
  const accepted = { type: 'Accepted', status: 'True' }
  expect(statuses).toMatchObject([[{ name: 'b', status: { conditions: [accepted] } }]])
  loop.observed(1, fact)
  const message =
    'requests are sent with HTTP/2, but the server at 127.0.0.1:1 does not support it: set policies.http.version to HTTP1'
  const unreachable = { type: 'Reachable', status: 'False', reason: 'NotHTTP2', message }
  expect(statuses.at(-1)).toMatchObject([{ name: 'b', status: { conditions: [accepted, unreachable] } }])
  loop.observed(1, { ...fact, at: '127.0.0.1:2' })
  expect(statuses).toHaveLength(2)
  put(backend(2))
  expect(statuses).toHaveLength(3)
  expect(statuses.at(-1)?.[0]?.status.conditions).toHaveLength(1)
  loop.observed(1, fact)
  expect(statuses, 'observed under the previous plan').toHaveLength(3)
})

test('a fact about an unknown backend changes no status', () => {
  const { loop, statuses } = startLoop(backend(1))
  loop.observed(1, { backend: 'ProxyBackend/default/other', code: 'backend-not-http2', at: 'e' })
  expect(statuses.slice(1).flat()).toEqual([])
})
