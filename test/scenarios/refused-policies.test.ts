import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findingLines } from '#cli/finding-lines.ts'
import { loadPlan } from '#cli/load-plan.ts'
import { decideRelay } from '#engine/request/decide-relay.ts'
import type { LiveRelayListener } from '#engine/route/live-listener.ts'
import { backendItem, listenerItem, livePlan, policyItem, toBackend } from '#engine/testing.ts'
import type { RelayRouteItem } from '#plan/item.ts'
import { codeOf } from '#policies/shared/testing.ts'
import { formatProblem } from '#store/file-problem.ts'
import { FileStore } from '#store/files.ts'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

/** A policy that is invalid at the very first start: its possible targets are not served (decision A-09). */

const OBJECTS = joinYaml(gatewayYaml(8080), backendYaml('web', 9000), routeYaml('all', '/', 'web'))
const KEYS = { apiKeyAuthentication: { secretRef: { name: 'keys' }, mode: 'Strictly' } }
const GUARDED = { authorization: { policy: { matchExpressions: ['has(apiKey.x)'] } } }

type Target = Parameters<typeof policyYaml>[1]

const refusing: [what: string, target: Target, of: string, spec: object, edit?: (yaml: string) => string][] = [
  ['authentication with an unknown mode', 'Gateway', 'main', { traffic: KEYS }],
  ['the same for a route', 'HTTPRoute', 'all', { traffic: KEYS }],
  ['a misspelt section', 'HTTPRoute', 'all', { trafic: GUARDED }],
  ['a misspelt field of a section', 'HTTPRoute', 'all', { traffic: { authorisation: GUARDED.authorization } }],
  ['a section that is no mapping', 'HTTPRoute', 'all', { traffic: ['csrf'] }],
  ['a section outside of spec', 'HTTPRoute', 'all', {}, (yaml) => `${yaml}traffic: ${JSON.stringify(GUARDED)}\n`],
  ['a misspelt kind', 'HTTPRoute', 'all', { traffic: GUARDED }, (yaml) => yaml.replace('ProxyPolicy', 'ProxyPolicies')],
  [
    'a kind that does not exist',
    'HTTPRoute',
    'all',
    { traffic: GUARDED },
    (yaml) => yaml.replace('ProxyPolicy', 'Rules'),
  ],
  [
    'a misspelt group',
    'HTTPRoute',
    'all',
    { traffic: GUARDED },
    (yaml) => yaml.replace('gatewright.dev', 'gatewrite.dev'),
  ],
  ['a version that does not exist', 'HTTPRoute', 'all', { traffic: GUARDED }, (yaml) => yaml.replace('v1alpha1', 'v9')],
  ['no name', 'HTTPRoute', 'all', { traffic: GUARDED }, (yaml) => yaml.replace('name: rules', 'labels: {}')],
  ['TLS to a backend', 'ProxyBackend', 'web', { backend: { tls: { sni: 7 } } }],
  ['a proxy server', 'ProxyBackend', 'web', { backend: { tunnel: {} } }],
  ['rules for MCP that are misspelt', 'ProxyBackend', 'web', { backend: { mcp: { authorisation: {} } } }],
  ['guards', 'ProxyBackend', 'web', { backend: { ai: { promptGuard: 7 } } }],
]

test.each(refusing)('%s: the target refuses', async (_, target, of, spec, edit = (yaml: string) => yaml) => {
  const policy = edit(policyYaml('rules', target, of, spec))
  const seen = await seeRequest(joinYaml(OBJECTS, policy), { target: '/' })
  expect(codeOf(seen.outcome ?? (await seen.attempt()))).toBe('policy-invalid')
  expect(seen.findings).toContainEqual(
    expect.objectContaining({
      code: 'policy-refuses',
      origin: expect.objectContaining({ kind: target, name: of }),
      message: expect.stringMatching(
        /^a gateway that starts with ProxyPolicy default\/(rules|\?) refuses all requests until the policy is valid$/,
      ),
    }),
  )
})

const serving: [what: string, spec: object][] = [
  ['timeouts', { traffic: { timeouts: { request: 'soon' } } }],
  ['headers', { traffic: { headerModifiers: 7 } }],
  ['models', { backend: { ai: { modelAliases: 7 } } }],
  ['logs', { frontend: { accessLog: 7 } }],
]

test.each(serving)('a policy that protects nothing: the target is served without it (%s)', async (_, spec) => {
  const seen = await seeRequest(joinYaml(OBJECTS, policyYaml('rules', 'Gateway', 'main', spec)), { target: '/' })
  expect(seen.outcome).toBeUndefined()
})

test('a refused policy at one place leaves the others in service', async () => {
  const other = routeYaml('other', '/other', 'web')
  const yaml = joinYaml(OBJECTS, other, policyYaml('rules', 'HTTPRoute', 'other', { traffic: KEYS }))
  expect((await seeRequest(yaml, { target: '/' })).outcome).toBeUndefined()
  expect(codeOf((await seeRequest(yaml, { target: '/other' })).outcome)).toBe('policy-invalid')
})

test('a refused policy for a section', async () => {
  const policy = policyYaml('rules', 'Gateway', 'main', { traffic: KEYS }).replace(
    '"name":"main"',
    '"name":"main","sectionName":"http"',
  )
  const seen = await seeRequest(joinYaml(OBJECTS, policy), { target: '/' })
  expect(codeOf(seen.outcome)).toBe('policy-invalid')
  const to = 'all requests to section http until the policy is valid'
  expect(seen.findings).toContainEqual(
    expect.objectContaining({
      severity: 'error',
      message: `a gateway that starts with ProxyPolicy default/rules refuses ${to}`,
    }),
  )
})

test('connections that are relayed are refused, too', () => {
  const listener = listenerItem({ protocol: 'TCP' })
  const relay = { kind: 'TCPRoute', namespace: 'default', name: 'all' } as const
  const rule: RelayRouteItem = {
    kind: 'relay-route',
    key: 'TCPRoute/default/all/0',
    route: relay,
    rule: 0,
    ruleName: undefined,
    created: '',
    attachments: [{ listener: listener.key, hostnames: [] }],
    backends: toBackend('b'),
    origin: relay,
  }
  const refused = policyItem('traffic.refusedPolicy', 'Gateway/default/main', {})
  const { plan, socket } = livePlan(listener, backendItem('b'), rule, refused)
  const found = socket.serverNames.first('', (each) => each) as LiveRelayListener
  const { refusal } = decideRelay({ index: plan.index, random: () => 0 }, found, '')
  expect(refusal).toMatchObject({
    code: 'policy-invalid',
    detail: 'ProxyPolicy default/policy has errors and no earlier valid version',
  })
})

test.each([
  ['invalid', 'BackendTLSPolicy'],
  ['of a misspelt kind', 'BackendTlsPolcy'],
])('a BackendTLSPolicy that is %s: its Service is not reached in plain text', async (_, kind) => {
  const service = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { ports: [{ port: 80, name: http }] }
`
  const route = routeYaml('all', '/', 'web').replace(
    'group: gatewright.dev, kind: ProxyBackend, name: web',
    'name: web, port: 80',
  )
  const tls = `
apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: { name: tls }
spec: { targetRefs: [{ group: '', kind: Service, name: web, sectionName: http }], validation: 7 }
`
  const seen = await seeRequest(joinYaml(gatewayYaml(8080), service, route, tls), { target: '/' })
  expect(codeOf(seen.outcome)).toBe('policy-invalid')
})

/** Problems of a file about refused policies, without their place. */
function problemsOf(store: FileStore): readonly string[] {
  return store
    .problems()
    .filter(({ code }) => /^(policy|file)-/.test(code))
    .map((problem) => formatProblem({ ...problem, file: '' }))
}

function open(yaml: string): { readonly store: FileStore; readonly write: (yaml: string) => void } {
  const file = join(temporaryFolder(), 'objects.yaml')
  writeFileSync(file, yaml)
  const store = new FileStore([file])
  return {
    store,
    write(next) {
      writeFileSync(file, next)
      store.reload()
    },
  }
}

test('an invalid edit of a valid policy keeps the valid version', () => {
  const wrong = policyYaml('rules', 'Gateway', 'main', { traffic: KEYS, trafic: {} })
  const { store, write } = open(wrong)
  expect(store.takeChange().refusedPolicies).toHaveLength(1)
  expect(store.unknownProtection()).toEqual([])
  write(policyYaml('rules', 'Gateway', 'main', { traffic: GUARDED }))
  expect(store.takeChange().refusedPolicies).toEqual([])
  expect(problemsOf(store)).toEqual([])
  write(wrong)
  expect(store.takeChange().refusedPolicies).toEqual([])
  expect(problemsOf(store)).toEqual([])
})

const unreadable: [what: string, edit: (yaml: string) => string][] = [
  ['no targets', (yaml) => yaml.replace('targetRefs', 'targetRef')],
  ['a target without a name', (yaml) => yaml.replace('"name":"main"', '"nam":"main"')],
  ['a kind that cannot be a target', (yaml) => yaml.replace('"kind":"Gateway"', '"kind":"GateWay"')],
  ['a group that the kind does not have', (yaml) => yaml.replace('gateway.networking.k8s.io', 'networking.k8s.io')],
  ['an unknown member of a target', (yaml) => yaml.replace('"name":"main"', '"name":"main","namespace":"default"')],
  ['a member with a wrong type', (yaml) => yaml.replace('"name":"main"', '"name":"main","sectionName":7')],
  ['no spec', (yaml) => yaml.replace('spec:', 'specs:')],
]

test.each(unreadable)('targets that cannot be read (%s): the protected objects are unknown', (_, edit) => {
  const { store } = open(edit(policyYaml('rules', 'Gateway', 'main', { traffic: GUARDED })))
  expect(problemsOf(store)).toEqual([
    expect.stringMatching(
      /^error: not all targets of ProxyPolicy default\/rules are known because of its errors, and .* may protect them; a gateway that starts with it does not become ready \[policy-targets-unknown\]$/,
    ),
  ])
  expect(store.unknownProtection()).toHaveLength(1)
})

/** What `lint` prints about one policy, in order, without its file. */
function lintOf(yaml: string): readonly string[] {
  const { store } = open(yaml)
  return findingLines(store, loadPlan(store).findings)
    .problems.filter(({ object, message }) => `${object} ${message}`.includes('ProxyPolicy default/rules'))
    .map((problem) => formatProblem({ ...problem, file: '' }))
}

test('lint names the error of a policy, and then the targets that refuse because of it', () => {
  const wrong = policyYaml('rules', 'HTTPRoute', 'all', { traffic: { apiKeyAuthentication: 7 } })
  expect(lintOf(joinYaml(OBJECTS, wrong))).toEqual([
    'error: HTTPRoute default/all: a gateway that starts with ProxyPolicy default/rules refuses all requests until the policy is valid [policy-refuses]',
    expect.stringMatching(/^error: spec.traffic.apiKeyAuthentication: .* \[wrong-type\]$/),
    'error: ProxyPolicy default/rules: a gateway that starts with it refuses all requests to HTTPRoute default/all until it is valid: spec.traffic.apiKeyAuthentication may protect them [policy-refuses]',
  ])
})

test('no message says that requests are refused if no target refuses', () => {
  const mistyped = policyYaml('rules', 'HTTPRoute', 'al', { traffic: { apiKeyAuthentication: 7 } })
  expect(lintOf(joinYaml(OBJECTS, mistyped))).toEqual([
    expect.stringContaining('[wrong-type]'),
    'error: ProxyPolicy default/rules: nothing is protected by this policy. Policy is not attached: HTTPRoute default/al not found; did you mean "all"? [target-not-found]',
  ])
  const unknown = mistyped.replace('"HTTPRoute"', '"HttpRoute"').replace('"al"', '"all"')
  expect(lintOf(joinYaml(OBJECTS, unknown)).join()).not.toContain('refuses')
})

const missing: [what: string, spec: object, edit: (yaml: string) => string, says: string][] = [
  [
    'another name',
    GUARDED,
    (yaml) => yaml.replace('"all"', '"al"'),
    'HTTPRoute default/al not found; did you mean "all"?',
  ],
  [
    'another namespace',
    GUARDED,
    (yaml) => yaml.replace('name: rules', 'name: rules, namespace: ops'),
    'HTTPRoute ops/all not found',
  ],
  [
    'another section',
    GUARDED,
    (yaml) => yaml.replace('"all"', '"all","sectionName":"one"'),
    'sectionName "one" not found in HTTPRoute default/all',
  ],
]

test.each(missing)(
  'a valid policy that protects and misses its target (%s): it protects nothing, and says so',
  (_, spec, edit, says) => {
    const yaml = edit(policyYaml('rules', 'HTTPRoute', 'all', { traffic: spec }))
    const { store } = open(joinYaml(OBJECTS, yaml))
    const messages = loadPlan(store).findings.map(({ message }) => message)
    expect(messages).toContainEqual(
      expect.stringContaining(`nothing is protected by this policy. Policy is not attached: ${says}`),
    )
  },
)

test('a policy says nothing about protection if it protects nothing, or one of its targets exists', () => {
  const messagesOf = (traffic: object, edit: (yaml: string) => string) => {
    const { store } = open(joinYaml(OBJECTS, edit(policyYaml('rules', 'HTTPRoute', 'al', { traffic }))))
    return loadPlan(store)
      .findings.map(({ message }) => message)
      .join('\n')
  }
  const also = '"targetRefs":[{"group":"gateway.networking.k8s.io","kind":"HTTPRoute","name":"all"},'
  const plain = messagesOf({ timeouts: { request: '5s' } }, (yaml) => yaml)
  const partial = messagesOf(GUARDED, (yaml) => yaml.replace('"targetRefs":[', also))
  for (const messages of [plain, partial]) {
    expect(messages).toContain('HTTPRoute default/al not found')
    expect(messages).not.toContain('nothing is protected')
  }
})

test('a mistake in a target may stand for another target: the one that it names refuses, too', async () => {
  const policy = policyYaml('rules', 'HTTPRoute', 'all', { traffic: GUARDED }).replace(
    '"name":"all"',
    '"name":"all","namespace":"default"',
  )
  expect(codeOf((await seeRequest(joinYaml(OBJECTS, policy), { target: '/' })).outcome)).toBe('policy-invalid')
})

test('a file that never parsed: the protected objects are unknown; one that parsed before keeps its policies', () => {
  const { store, write } = open('a: [')
  expect(problemsOf(store)).toEqual([
    'error: no version of this file was valid, so its policies cannot be loaded; a gateway that starts with it does not become ready [file-never-valid]',
  ])
  expect(store.unknownProtection()).toHaveLength(1)
  const refused = policyYaml('rules', 'Gateway', 'main', { traffic: KEYS })
  write(refused)
  expect(store.unknownProtection()).toEqual([])
  write(`${refused}---\na: [`)
  expect(store.unknownProtection()).toEqual([])
  expect(store.takeChange().refusedPolicies).toHaveLength(1)
})

const USERS = { basicAuthentication: { users: ['ann:{SHA}QY7lFvHLCVxQ/y8Qp2GSiJwoHzo='] } }
const named = (target: Target, of: string, traffic: object) => policyYaml('rules', target, of, { traffic })

const displaced: [what: string, first: string, second: string, code: string | undefined][] = [
  ['other fields', named('HTTPRoute', 'all', { cors: {} }), named('HTTPRoute', 'all', USERS), 'policy-invalid'],
  ['another target', named('HTTPRoute', 'none', USERS), named('HTTPRoute', 'all', USERS), 'policy-invalid'],
  ['a wider target', named('HTTPRoute', 'none', USERS), named('Gateway', 'main', USERS), 'policy-invalid'],
  ['a copy', named('HTTPRoute', 'all', USERS), named('HTTPRoute', 'all', USERS), 'basic-missing'],
  [
    'fewer fields',
    named('HTTPRoute', 'all', { ...USERS, csrf: {} }),
    named('HTTPRoute', 'all', USERS),
    'basic-missing',
  ],
  [
    'nothing that protects',
    named('HTTPRoute', 'all', { timeouts: {} }),
    named('HTTPRoute', 'all', { cors: {} }),
    undefined,
  ],
]

test.each(displaced)('a policy with the name of another one: what it alone protects refuses (%s)', async (_, ...it) => {
  const [first, second, code] = it
  const seen = await seeRequest(joinYaml(OBJECTS, first, second), { target: '/' })
  expect(seen.outcome && codeOf(seen.outcome)).toBe(code)
})

test('the same across files, until it has another name', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'a.yaml'), joinYaml(OBJECTS, named('HTTPRoute', 'all', { cors: {} })))
  writeFileSync(join(folder, 'b.yaml'), named('HTTPRoute', 'all', USERS))
  const store = new FileStore([folder])
  expect(store.takeChange().refusedPolicies).toMatchObject([{ targetRefs: [{ name: 'all' }] }])
  expect(store.problems()).toMatchObject([
    { message: expect.stringMatching(/has the same name; this object is ignored, so give it another name$/) },
  ])
  writeFileSync(join(folder, 'b.yaml'), policyYaml('users', 'HTTPRoute', 'all', { traffic: USERS }))
  store.reload()
  expect(store.takeChange().refusedPolicies).toEqual([])
})
