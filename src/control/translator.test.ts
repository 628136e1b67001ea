import { expect, test } from 'vitest'
import type { Finding } from '#base/finding.ts'
import type { Binding } from '#plan/binding.ts'
import { admitObject } from '#test/support/admit-object.ts'
import type { Translation } from './translation.ts'
import { Translator } from './translator.ts'

const gateway = {
  kind: 'Gateway',
  metadata: { name: 'main' },
  spec: {
    gatewayClassName: 'gatewright',
    listeners: [
      { name: 'a', port: 8080, protocol: 'HTTP' },
      { name: 'b', port: 8081, protocol: 'HTTP' },
    ],
  },
}

const policy = {
  kind: 'ProxyPolicy',
  metadata: { name: 'rules' },
  spec: {
    targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'main' }],
    traffic: {
      authorization: { policy: { matchExpressions: ['1 +'] } },
      basicAuthentication: { secretRef: { name: 'gone' } },
    },
  },
}

/** Translates objects, then applies problems and bindings. */
function translated(
  objects: readonly unknown[],
  {
    problems = [],
    bindings = [],
  }: { problems?: readonly Finding[]; bindings?: Iterable<readonly [string, Binding]> } = {},
): Translation {
  const translator = new Translator()
  translator.apply({ set: objects.map(admitObject), removed: [] })
  translator.noteProblems(new Map([['ProxyPolicy/default/rules', problems]]))
  translator.noteBindings(1, new Map(bindings))
  return translator.translation
}

const OBJECTS = [gateway, policy]
const translation = translated(OBJECTS)

const badExpression: Finding = {
  origin: { kind: 'ProxyPolicy', namespace: 'default', name: 'rules' },
  path: 'spec.traffic.authorization.policy.matchExpressions[0]',
  code: 'cel-syntax',
  message: 'unexpected end',
  severity: 'error',
}

/** The conditions of one object, such as `Accepted=True/Valid`. */
function conditionsIn({ statuses }: Translation, kind: string): readonly string[] {
  const { status } = statuses.find((it) => it.kind === kind)!
  const { conditions } = status as { conditions: { type: string; status: string; reason: string }[] }
  return conditions.map(({ type, status: value, reason }) => `${type}=${value}/${reason}`)
}

test('an expression that does not compile makes the policy partially valid, and the message contains its path', () => {
  const complete = translated(OBJECTS, { problems: [badExpression] })
  expect(conditionsIn(complete, 'ProxyPolicy')).toEqual(['Accepted=True/PartiallyValid', 'Attached=True/Attached'])
  const { status } = complete.statuses.find(({ kind }) => kind === 'ProxyPolicy')!
  expect(JSON.stringify(status)).toContain(`${badExpression.path}: unexpected end`)
})

test('a problem found for several targets is reported once', () => {
  const complete = translated(OBJECTS, { problems: [badExpression, { ...badExpression }] })
  expect(complete.findings).toEqual([...translation.findings, badExpression])
})

test('problems inside a broken reference are not reported, those beside it are', () => {
  const path = 'spec.traffic.basicAuthentication.secretRef'
  expect(translation.findings.map((finding) => finding.path)).toEqual([path])
  const at = (where: string) => ({ ...badExpression, path: where })
  const problems = [at(path), at(`${path}.name`), at('spec.traffic.basicAuthentication')]
  const complete = translated(OBJECTS, { problems })
  expect(complete.findings.map((finding) => finding.path)).toEqual([path, 'spec.traffic.basicAuthentication'])
})

test('a warning leaves the policy valid', () => {
  const harmless = { ...policy, spec: { ...policy.spec, traffic: { csrf: {} } } }
  const complete = translated([gateway, harmless], { problems: [{ ...badExpression, severity: 'warning' }] })
  expect(conditionsIn(complete, 'ProxyPolicy')).toEqual(['Accepted=True/Valid', 'Attached=True/Attached'])
})

const a = '127.0.0.1:8080'
const b = '127.0.0.1:8081'
const bound: Binding = { state: 'bound' }
const taken: Binding = { state: 'failed', reason: 'PortUnavailable', message: 'port 8081 is in use' }

test('while a newer version is refused, the conditions of this controller say so, with the generation that is in force', () => {
  const ofOthers = { parentRef: { name: 'theirs' }, controllerName: 'example.com/other', conditions: [] }
  const route = {
    kind: 'HTTPRoute',
    metadata: { name: 'shop', generation: 3 },
    spec: { parentRefs: [{ name: 'main' }] },
    status: { parents: [ofOthers] },
  }
  const translator = new Translator()
  translator.apply({
    set: [gateway, { ...policy, metadata: { name: 'rules', generation: 2 } }, route].map(admitObject),
    removed: [],
  })
  translator.takeStatuses()
  translator.noteRefusedEdits(
    new Map([
      ['HTTPRoute/default/shop', 'r.yaml:3:1: error: bad [invalid-yaml]'],
      ['ProxyPolicy/default/rules', 'p.yaml:3:1: error: bad [invalid-yaml]'],
    ]),
  )
  const [shop, rules] = translator.takeStatuses().written.map(({ status }) => status)
  const current = {
    type: 'Current',
    status: 'False',
    reason: 'EditRefused',
    message:
      'the last valid version is in force, because the newer one is refused; correct it: r.yaml:3:1: error: bad [invalid-yaml]',
    observedGeneration: 3,
  }
  expect(shop).toMatchObject({
    parents: [{ conditions: [{ type: 'Accepted' }, { type: 'ResolvedRefs' }, current] }, ofOthers],
  })
  const ofPolicy = { type: 'Current', status: 'False', observedGeneration: 2 }
  const conditions = [{ type: 'Accepted' }, { type: 'Attached' }, ofPolicy]
  expect(rules).toMatchObject({ conditions, ancestors: [{ conditions }] })
  translator.noteRefusedEdits(new Map())
  expect(JSON.stringify(translator.takeStatuses().written)).not.toContain('Current')
})

test.each([
  ['no state is known', [], 'Programmed=Unknown/Pending'],
  ['one is bound', [[a, bound]], 'Programmed=Unknown/Pending'],
  [
    'all are bound',
    [
      [a, bound],
      [b, bound],
    ],
    'Programmed=True/Programmed',
  ],
  [
    'one port is in use',
    [
      [a, bound],
      [b, taken],
    ],
    'Programmed=False/ListenersNotValid',
  ],
  [
    'all ports are in use',
    [
      [a, taken],
      [b, taken],
    ],
    'Programmed=False/PortUnavailable',
  ],
] as const)('the Gateway when %s', (_, bindings, expected) => {
  const complete = translated(OBJECTS, { bindings })
  expect(conditionsIn(complete, 'Gateway')).toEqual(['Accepted=True/Accepted', expected])
})

test('a listener whose only certificate lacks a grant takes connections, but no client can use it', () => {
  const tls = {
    name: 'tls',
    port: 8443,
    protocol: 'HTTPS',
    tls: { certificateRefs: [{ name: 'cert', namespace: 'far' }] },
  }
  const set = {
    kind: 'ListenerSet',
    metadata: { name: 'set' },
    spec: { parentRef: { name: 'main' }, listeners: [tls] },
  }
  const [http] = gateway.spec.listeners
  const mixed = {
    ...gateway,
    spec: {
      ...gateway.spec,
      allowedListeners: { namespaces: { from: 'Same' } },
      listeners: [http, { ...tls, hostname: 'a.example' }],
    },
  }
  const complete = translated([mixed, set], {
    bindings: [
      [a, bound],
      ['127.0.0.1:8443', bound],
    ],
  })
  expect(conditionsIn(complete, 'Gateway')).toEqual(['Accepted=True/ListenersNotValid', 'Programmed=True/Programmed'])
  const { status } = complete.statuses.find(({ kind }) => kind === 'Gateway')!
  expect(status).toMatchObject({ attachedListenerSets: 0 })
  expect(JSON.stringify(status)).toContain('"These listeners accept connections: a"')
  expect(conditionsIn(complete, 'ListenerSet')).toEqual([
    'Accepted=False/ListenersNotValid',
    'Programmed=False/ListenersNotValid',
  ])
})

test('attachedRoutes counts accepted routes only', () => {
  const route = (name: string, filters: readonly object[]) => ({
    kind: 'HTTPRoute',
    metadata: { name },
    spec: { parentRefs: [{ name: 'main', sectionName: 'a' }], rules: [{ filters }] },
  })
  const extension = { type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'Filter', name: 'f' } }
  const { statuses } = translated([gateway, route('good', []), route('bad', [extension])])
  const { status } = statuses.find(({ kind }) => kind === 'Gateway')!
  expect(status).toMatchObject({
    listeners: [
      { name: 'a', attachedRoutes: 1 },
      { name: 'b', attachedRoutes: 0 },
    ],
  })
})

test('compile problems and bindings are independent, and new values replace old ones', () => {
  const translator = new Translator()
  translator.apply({ set: OBJECTS.map(admitObject), removed: [] })
  const key = 'ProxyPolicy/default/rules'
  translator.noteProblems(new Map([[key, [badExpression]]]))
  translator.noteBindings(
    1,
    new Map([
      [a, bound],
      [b, bound],
    ]),
  )
  translator.noteProblems(new Map([[key, [{ ...badExpression, message: 'another' }]]]))
  expect(conditionsIn(translator.translation, 'Gateway')).toContain('Programmed=True/Programmed')
  expect(translator.findings.map(({ message }) => message)).toContain('another')
  expect(translator.findings).toHaveLength(translation.findings.length + 1)
  translator.noteBindings(1, new Map([[a, bound]]))
  expect(conditionsIn(translator.translation, 'Gateway')).toContain('Programmed=Unknown/Pending')
})

test('a Gateway says why its proxy is not deployed as it should be, and no longer when it is', () => {
  const translator = new Translator()
  translator.apply({ set: OBJECTS.map(admitObject), removed: [] })
  const key = `Gateway/default/${gateway.metadata.name}`
  const origin = { kind: 'Gateway', namespace: 'default', name: gateway.metadata.name }
  const blocked: Finding = { origin, path: 'spec', code: 'deployment-blocked', message: 'taken', severity: 'error' }
  const before = conditionsIn(translator.translation, 'Gateway')
  translator.noteDeployment(key, [blocked])
  translator.noteProblems(new Map([[key, []]]))
  expect(conditionsIn(translator.translation, 'Gateway')).toContain('Programmed=False/Invalid')
  expect(translator.findings).toContainEqual(blocked)
  translator.noteDeployment(key, [{ ...blocked, code: 'parameters-invalid' }])
  expect(conditionsIn(translator.translation, 'Gateway')).toContain('Accepted=False/InvalidParameters')
  translator.noteDeployment(key, [{ ...blocked, code: 'not-implemented' }])
  expect(conditionsIn(translator.translation, 'Gateway')).toEqual(before)
})

test('a mirror to a backend with prompt guards is a reference that is not resolved', () => {
  const route = {
    kind: 'HTTPRoute',
    metadata: { name: 'r' },
    spec: { parentRefs: [{ name: gateway.metadata.name }], rules: [{}] },
  }
  const translator = new Translator()
  translator.apply({ set: [gateway, route].map(admitObject), removed: [] })
  const resolved = () => {
    const { status } = translator.translation.statuses.find(({ kind }) => kind === 'HTTPRoute')!
    const [parent] = (
      status as unknown as { parents: { conditions: { type: string; reason: string; message: string }[] }[] }
    ).parents
    const { reason, message } = parent!.conditions.find(({ type }) => type === 'ResolvedRefs')!
    return `${reason}: ${message}`
  }
  const origin = { kind: 'HTTPRoute', namespace: 'default', name: 'r' }
  const finding: Finding = { origin, path: 'p', code: 'mirror-guarded', message: 'it gets none', severity: 'error' }
  expect(resolved()).toBe('ResolvedRefs: All references resolved')
  translator.noteProblems(new Map([['HTTPRoute/default/r', [finding]]]))
  expect(resolved()).toBe('UnsupportedProtocol: it gets none')
  translator.noteProblems(new Map([['HTTPRoute/default/r', [{ ...finding, code: 'cel-syntax' }]]]))
  expect(resolved()).toBe('ResolvedRefs: All references resolved')
})

test('fields of a GRPCRoute that have no effect say what to use instead', () => {
  const route = {
    kind: 'GRPCRoute',
    metadata: { name: 'calls' },
    spec: { parentRefs: [{ name: 'main' }], rules: [{ timeouts: { request: '1s' }, retry: { attempts: 2 } }] },
  }
  const { findings } = translated([gateway, route])
  expect(findings.filter(({ code }) => code === 'not-implemented').map(({ path, message }) => [path, message])).toEqual(
    [
      ['spec.rules[0].timeouts', 'timeouts is not implemented yet; use backend.http.requestTimeout of a ProxyPolicy'],
      ['spec.rules[0].retry', 'retry is not implemented yet; use traffic.retry of a ProxyPolicy'],
    ],
  )
})
