import { afterEach, describe, expect, test, vi } from 'vitest'
import { objectKey } from '#api/object.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import { compareText } from '#base/compare-text.ts'
import { type NodeFault, type StageDefinition, Stages } from '#base/incremental/stage.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { PlanItem } from '#plan/item.ts'
import { admitObject } from '#test/support/admit-object.ts'
import type { Translation } from './translation.ts'
import { Translator } from './translator.ts'

/** The stages that throw for what has `broken` in it, separated by spaces. */
let faultyStage: string | undefined
const stageNames = new Set<string>()

/** Lets stages throw as a bug would, before they read or, with `late`, after they have written. */
function breakStages({ late = false, isBroken = (text: string) => text.includes('broken') } = {}): void {
  const add = Stages.prototype.add
  vi.spyOn(Stages.prototype, 'add').mockImplementation(function <Row>(this: Stages, stage: StageDefinition<Row>) {
    stageNames.add(stage.name)
    const fail = (rows: readonly Row[], key: string) => {
      if (!faultyStage?.split(' ').includes(stage.name) || !isBroken(`${key} ${JSON.stringify(rows)}`)) return
      throw new RangeError('the text has the secret s3cr3t')
    }
    add.call(this, {
      ...stage,
      run(rows: readonly Row[], work, key) {
        if (!late) fail(rows, key)
        stage.run(rows, work, key)
        fail(rows, key)
      },
    })
  })
}

afterEach(() => {
  faultyStage = undefined
  vi.restoreAllMocks()
})

const GROUP = 'gateway.networking.k8s.io'

/** Objects of every kind with the same name, which work together. @param port of the Gateway */
function system(name: string, port: number): readonly unknown[] {
  const metadata = { name }
  const parentRefs = [{ name }]
  const toRoute = [{ group: GROUP, kind: 'HTTPRoute', name }]
  return [
    {
      kind: 'GatewayClass',
      metadata: { name },
      spec: {
        controllerName: 'gatewright.dev/controller',
        parametersRef: { group: 'gatewright.dev', kind: 'ProxyParameters', name, namespace: 'default' },
      },
    },
    { kind: 'ProxyParameters', metadata, spec: {} },
    {
      kind: 'Gateway',
      metadata: { name, annotations: { 'gatewright.dev/unknown': name } },
      spec: {
        gatewayClassName: name,
        allowedListeners: { namespaces: { from: 'Same' } },
        listeners: [{ name: 'http', port, protocol: 'HTTP' }],
      },
    },
    {
      kind: 'ListenerSet',
      metadata,
      spec: { parentRef: { name }, listeners: [{ name: 'more', port: port + 1, protocol: 'HTTP' }] },
    },
    {
      kind: 'HTTPRoute',
      metadata: { name, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        parentRefs,
        hostnames: [`${name}.test`],
        rules: [
          { backendRefs: [{ name, port: 80 }] },
          { matches: [{ path: { type: 'RegularExpression', value: '/a/.*' } }], backendRefs: [{ name, port: 80 }] },
          {
            backendRefs: [{ group: 'gatewright.dev', kind: 'ProxyBackend', name }],
            filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x'] } }],
          },
        ],
      },
    },
    {
      kind: 'GRPCRoute',
      metadata: { name, creationTimestamp: '2026-01-02T00:00:00Z' },
      spec: { parentRefs, hostnames: [`${name}.test`], rules: [{ backendRefs: [{ name, port: 80 }] }] },
    },
    { kind: 'Service', metadata, spec: { ports: [{ port: 80 }], selector: { app: name } } },
    {
      kind: 'EndpointSlice',
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8080 }],
      endpoints: [{ addresses: ['10.0.0.1'] }],
    },
    { kind: 'ProxyBackend', metadata, spec: { static: { host: `${name}.example`, port: 80 } } },
    {
      kind: 'ReferenceGrant',
      metadata,
      spec: { from: [{ group: GROUP, kind: 'HTTPRoute', namespace: name }], to: [{ group: '', kind: 'Service' }] },
    },
    { kind: 'Secret', metadata, stringData: { key: 'a1' } },
    {
      kind: 'ProxyPolicy',
      metadata,
      spec: {
        targetRefs: toRoute,
        traffic: {
          apiKeyAuthentication: { secretRef: { name } },
          rateLimit: { local: [{ requests: 1, unit: 'Minutes' }] },
        },
      },
    },
    {
      kind: 'ProxyPolicy',
      metadata: { name: `${name}-workload` },
      spec: {
        targetRefs: [{ group: GROUP, kind: 'Gateway', name }],
        frontend: { tcp: { keepalive: { time: '10s' } } },
        traffic: { authorization: { policy: { matchExpressions: ['source.unverifiedWorkload.name != ""'] } } },
      },
    },
    { kind: 'Pod', metadata, spec: {}, status: { podIP: `10.1.0.${port / 1000 - 8}` } },
    {
      kind: 'ProxyPolicy',
      metadata: { name: `${name}-again` },
      spec: { targetRefs: toRoute, traffic: { rateLimit: { local: [{ requests: 2, unit: 'Minutes' }] } } },
    },
    {
      kind: 'BackendTLSPolicy',
      metadata,
      spec: {
        targetRefs: [{ group: '', kind: 'Service', name }],
        validation: { wellKnownCACertificates: 'System', hostname: `${name}.test` },
      },
    },
  ]
}

const GOOD = system('good', 8080).map(admitObject)
const BROKEN = system('broken', 9080).map(admitObject)

/** Invalid policies, as a store reports them. */
const REFUSED: readonly RefusedPolicy[] = ['good', 'broken'].map((name) => ({
  origin: { kind: 'ProxyPolicy', namespace: 'default', name: `${name}-invalid` },
  targetRefs: [{ group: '', kind: 'Service', name }],
  targetSelectors: [],
  targetsKnown: true,
  protects: ['spec.backend.tls'],
}))

/** The translation as far as it says something of the objects of a name. */
function partOf({ items, findings, statuses }: Translation, name: string) {
  const isOf = (value: unknown) => JSON.stringify(value).includes(name)
  return {
    items: [...items.values()].filter(isOf).toSorted((a, b) => compareText(a.key, b.key)),
    findings: findings.filter(isOf),
    statuses: statuses.filter(isOf),
  }
}

const FACTS: readonly BackendFact[] = ['good', 'broken'].map((name) => ({
  backend: `Service/default/${name}/80`,
  code: 'backend-not-http2',
  at: '10.0.0.1:80',
}))

/** @param told gets the faults */
function translatorOf(told: NodeFault[] = []): Translator {
  return new Translator({ onFault: (fault) => told.push(fault) })
}

function observe(translator: Translator): void {
  for (const fact of FACTS) translator.noteFact(fact)
}

breakStages()
const healthy = new Translator()
vi.restoreAllMocks()
healthy.apply({ set: [...GOOD, ...BROKEN], removed: [], refusedPolicies: REFUSED })
observe(healthy)

/** One node for all objects, or for objects of both names. */
const SHARED_NODES = ['noGateway', 'workloadReaders']
/** No object is named by the key and the rows, or the stage that joins the findings fails itself. */
const UNREPORTED = ['displaced', 'findings', 'sharedSockets']

describe.each([false, true])('late: %s', (late) => {
  test.each([...stageNames])('a fault in stage %s concerns only its object, until it is mended', (stage) => {
    breakStages({ late })
    faultyStage = stage
    const told: NodeFault[] = []
    const translator = translatorOf(told)
    translator.apply({ set: [...GOOD, ...BROKEN], removed: [], refusedPolicies: REFUSED })
    observe(translator)
    expect(partOf(translator.translation, 'good')).toEqual(partOf(healthy.translation, 'good'))
    if (SHARED_NODES.includes(stage)) return
    expect(new Set(told.map((fault) => fault.stage))).toEqual(new Set([stage]))
    const found = translator.findings.filter(({ code }) => code === 'translation-failed')
    expect(found.length > 0).toBe(!UNREPORTED.includes(stage))
    for (const { origin, severity, message } of found) {
      expect([origin.name, severity]).toEqual([expect.stringContaining('broken'), 'error'])
      expect(message).toContain(`(RangeError in stage ${stage})`)
      expect(message).not.toContain('s3cr3t')
    }

    translator.apply({ set: [], removed: BROKEN, refusedPolicies: REFUSED.slice(0, 1) })
    translator.forgetFacts()
    expect(partOf(translator.translation, 'broken')).toEqual({ items: [], findings: [], statuses: [] })
    faultyStage = undefined
    translator.apply({ set: BROKEN, removed: [], refusedPolicies: REFUSED })
    observe(translator)
    expect(translator.translation).toEqual(healthy.translation)
  })
})

const POLICY = 'ProxyPolicy/default/broken'

/** The fields of a policy in force at the route that it protects. */
function fieldsAt({ items }: Translation): readonly string[] {
  const isOf = ({ origin: { kind, namespace, name } }: PlanItem) => objectKey(kind, namespace, name) === POLICY
  return [...items.values()].filter(isOf).map((item) => (item.kind === 'policy' ? `${item.target} ${item.field}` : ''))
}

test('what a policy without a translation protects refuses, until the policy is translated', () => {
  breakStages()
  const translator = translatorOf()
  faultyStage = 'policies'
  translator.apply({ set: [...GOOD, ...BROKEN], removed: [] })
  expect(fieldsAt(translator.translation)).toEqual(['HTTPRoute/default/broken refusedPolicy'])
  const codes = translator.findings.filter(({ origin }) => origin.name === 'broken').map(({ code }) => code)
  expect(codes).toEqual(expect.arrayContaining(['translation-failed', 'policy-refuses']))
  faultyStage = undefined
  const again = BROKEN.map((object) => ({ ...object, metadata: { ...object.metadata, generation: 2 } }))
  translator.apply({ set: again, removed: [] })
  expect(fieldsAt(translator.translation)).toEqual([
    'HTTPRoute/default/broken apiKeyAuthentication',
    'HTTPRoute/default/broken rateLimit',
  ])
  expect(translator.findings.some(({ code }) => code === 'translation-failed')).toBe(false)
})

test('what a policy without a translation names refuses, even if its refusal cannot be translated either', () => {
  breakStages()
  const translator = translatorOf()
  faultyStage = 'policies refusedPolicies'
  const byLabel = { kind: 'HTTPRoute', group: GROUP, matchLabels: { guarded: 'yes' } }
  const authorization = { policy: { matchExpressions: ['false'] } }
  const policy = { targetSelectors: [byLabel], traffic: { authorization } }
  const labelled = { name: 'labelled', labels: { guarded: 'yes' } }
  const more = [
    { kind: 'HTTPRoute', metadata: labelled, spec: { parentRefs: [{ name: 'broken' }] } },
    { kind: 'ProxyPolicy', metadata: { name: 'broken-by-label' }, spec: policy },
  ].map(admitObject)
  translator.apply({ set: [...GOOD, ...BROKEN, ...more], removed: [] })
  const refusing = () =>
    [...translator.items.values()].flatMap((item) =>
      item.kind === 'policy' && item.field === 'refusedPolicy' ? item.target : [],
    )
  expect(new Set(refusing())).toEqual(
    new Set(['HTTPRoute/default/broken', 'HTTPRoute/default/labelled', 'Gateway/default/broken']),
  )
  const change = translator.apply({ set: [], removed: [...BROKEN, ...more] })
  expect(refusing()).toEqual([])
  expect(change.removed).toContainEqual(expect.stringContaining('refusedPolicy'))
})

test('a policy without a translation that protects nothing refuses nothing', () => {
  breakStages()
  const translator = translatorOf()
  faultyStage = 'policies'
  const plain = {
    targetRefs: [{ group: GROUP, kind: 'HTTPRoute', name: 'broken' }],
    traffic: { timeouts: { request: '1s' } },
  }
  const policy = admitObject({ kind: 'ProxyPolicy', metadata: { name: 'broken' }, spec: plain })
  translator.apply({ set: [...BROKEN, policy], removed: [] })
  expect(fieldsAt(translator.translation)).toEqual([])
})

test.each(['matchedRoutes', 'routes'])('what a route matches that stage %s cannot translate is refused', (stage) => {
  // The stand-in has no filters, which the stage cannot translate.
  breakStages({ isBroken: (text) => text.includes('broken') && text.includes('requestHeaderModifier') })
  const translator = translatorOf()
  faultyStage = stage
  translator.apply({ set: [...GOOD, ...BROKEN], removed: [] })
  const rules = partOf(translator.translation, 'broken@untranslated').items
  expect(rules).toHaveLength(3)
  for (const item of rules) {
    const broken = 'HTTPRoute default/broken is not in force because of a bug of the gateway'
    expect(item).toMatchObject({ kind: 'route', backends: [], broken })
  }
  expect(translator.findings.map(({ code }) => code)).toContain('route-refuses')
  translator.apply({ set: [], removed: BROKEN.filter(({ kind }) => kind === 'HTTPRoute') })
  expect(partOf(translator.translation, '@untranslated')).toEqual({ items: [], findings: [], statuses: [] })
})

test('a policy keeps the translation that it has', () => {
  breakStages()
  const translator = translatorOf()
  translator.apply({ set: BROKEN, removed: [] })
  const before = fieldsAt(translator.translation)
  faultyStage = 'policies'
  const again = BROKEN.map((object) => ({ ...object, metadata: { ...object.metadata, generation: 2 } }))
  translator.apply({ set: again, removed: [] })
  expect(translator.findings.map(({ code }) => code)).toContain('translation-failed')
  expect(fieldsAt(translator.translation)).toEqual(before)
})

test('without a handler, faults are thrown', () => {
  breakStages()
  faultyStage = 'routes'
  expect(() => new Translator().apply({ set: BROKEN, removed: [] })).toThrow(RangeError)
})
