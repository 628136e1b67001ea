import { expect, test } from 'vitest'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'

/** What lint says about settings that protect less than their authors may believe. */

const OBJECTS = joinYaml(gatewayYaml(8080), backendYaml('web', 9000), routeYaml('all', '/', 'web'))
const users = (mode: string) => ({
  traffic: { basicAuthentication: { mode, users: ['ann:{SHA}QY7lFvHLCVxQ/y8Qp2GSiJwoHzo='] } },
})

const CODES = ['protection-weakened', 'overridden-by-tie', 'audience-any', 'fails-open', 'identity-unused']

async function findingsOf(...policies: string[]): Promise<readonly string[]> {
  const { findings } = await seeRequest(joinYaml(OBJECTS, ...policies))
  return findings
    .filter(({ code }) => CODES.includes(code))
    .map(
      ({ severity, code, origin, path, message }) =>
        `${severity} ${code} ${origin.name} ${path}: ${message.replace(/ \(\/[^)]*\)/, '')}`,
    )
}

const READS = {
  traffic: { authorization: { action: 'Allow', policy: { matchExpressions: ['basicAuth.username == "ann"'] } } },
}
const READING = policyYaml('rules', 'HTTPRoute', 'all', READS)

test.each([
  ['Optional', true],
  ['Strict', false],
])('a route overrides the Strict mode of its Gateway with %s: advice %s', async (mode, isAdvised) => {
  const found = await findingsOf(
    policyYaml('wide', 'Gateway', 'main', users('Strict')),
    policyYaml('narrow', 'HTTPRoute', 'all', users(mode)),
    READING,
  )
  const advice =
    'advice protection-weakened narrow spec.traffic.basicAuthentication.mode: protects less than spec.traffic.basicAuthentication of ProxyPolicy default/wide, which it overrides here: requests without a credential pass'
  expect(found).toEqual(isAdvised ? [advice] : [])
})

test('nothing is weaker than a mode that requires nothing', async () => {
  const wide = policyYaml('wide', 'Gateway', 'main', users('Optional'))
  expect(await findingsOf(wide, policyYaml('narrow', 'HTTPRoute', 'all', users('Optional')), READING)).toEqual([])
})

test.each([
  ['Optional', 'Strict', ', which protects less: requests without a credential pass there'],
  ['Strict', 'Optional', ''],
])('a tie that %s wins over %s', async (winner, loser, effect) => {
  const found = await findingsOf(
    policyYaml('a', 'HTTPRoute', 'all', users(winner)),
    policyYaml('b', 'HTTPRoute', 'all', users(loser)),
    READING,
  )
  expect(found).toEqual([
    `warning overridden-by-tie b spec.traffic.basicAuthentication: traffic.basicAuthentication is overridden by ProxyPolicy default/a at HTTPRoute/default/all (its name is first)${effect}`,
  ])
})

test.each([
  [['shop'], []],
  [undefined, ['advice audience-any tokens spec.traffic.jwtAuthentication.providers[0]']],
])('a provider with the audiences %j', async (audiences, expected) => {
  const provider = { issuer: 'https://idp.test', audiences, jwks: { inline: '{"keys":[]}' } }
  const found = await findingsOf(
    policyYaml('tokens', 'HTTPRoute', 'all', { traffic: { jwtAuthentication: { providers: [provider] } } }),
  )
  expect(found.map((line) => line.replace(/: .*/, ''))).toEqual(expected)
})

test.each([
  ['FailClosed', []],
  ['FailOpen', ['advice fails-open server spec.traffic.extAuth.failureMode']],
])('an authorization server with %s', async (failureMode, expected) => {
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' }
  const found = await findingsOf(
    policyYaml('server', 'HTTPRoute', 'all', { traffic: { extAuth: { backendRef, failureMode, http: {} } } }),
  )
  expect(found.map((line) => line.replace(/: .*/, ''))).toEqual(expected)
})

test.each([
  ['FailClosed', []],
  ['FailOpen', ['advice fails-open limits spec.traffic.rateLimit.global.failureMode']],
])('a rate limit server with %s', async (failureMode, expected) => {
  const backendRef = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' }
  const descriptors = [{ entries: [{ name: 'a', expression: 'source.address' }] }]
  const global = { backendRef, failureMode, domain: 'd', descriptors }
  const found = await findingsOf(policyYaml('limits', 'HTTPRoute', 'all', { traffic: { rateLimit: { global } } }))
  expect(found.map((line) => line.replace(/: .*/, ''))).toEqual(expected)
})

const UNUSED =
  'advice identity-unused tokens spec.traffic.jwtAuthentication.mode: requests without a credential pass, and no policy uses jwt; set mode Strict, or add authorization rules that use jwt'
const tokens = (mode: string, kind: 'Gateway' | 'HTTPRoute' = 'Gateway', name = 'main', phase?: string) => {
  const provider = { issuer: 'https://idp.test', audiences: ['shop'], jwks: { inline: '{"keys":[]}' } }
  return policyYaml('tokens', kind, name, { traffic: { phase, jwtAuthentication: { mode, providers: [provider] } } })
}
const rule = (expression: string) => ({
  traffic: { authorization: { action: 'Deny', policy: { matchExpressions: [expression] } } },
})
const otherRoute = routeYaml('other', '/other', 'web')

test.each([
  ['Strict', []],
  ['Optional', [UNUSED]],
  ['Permissive', [UNUSED]],
])('tokens in mode %s, without rules', async (mode, expected) => {
  expect(await findingsOf(tokens(mode))).toEqual(expected)
  expect(await findingsOf(tokens(mode, 'HTTPRoute', 'all'))).toEqual(expected)
  expect(await findingsOf(tokens(mode, 'Gateway', 'main', 'PreRouting'))).toEqual(expected)
})

const server = { backendRef: { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'web' }, http: {} }
const TOOLS = joinYaml(
  `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec:
  mcp: { targets: [{ name: a, static: { host: 127.0.0.1, port: 9000 } }] }
  policies: { mcp: { authorization: { policy: { matchExpressions: ['jwt.sub == "ann"'] } } } }
`,
  routeYaml('tools', '/tools', 'tools'),
)
const TARGET = joinYaml(
  `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: tools }
spec:
  mcp:
    targets:
      - name: a
        static:
          host: 127.0.0.1
          port: 9000
          policies: { auth: { passthrough: {} } }
`,
  routeYaml('tools', '/tools', 'tools'),
)
test.each([
  ['a rule that reads claims', policyYaml('use', 'HTTPRoute', 'all', rule('jwt.sub == "ann"')), []],
  ['a rule that reads something else', policyYaml('use', 'HTTPRoute', 'all', rule('request.path == "/a"')), [UNUSED]],
  [
    'a header from a claim',
    policyYaml('use', 'HTTPRoute', 'all', {
      traffic: { transformation: { request: { set: [{ name: 'x-sub', value: 'jwt.sub' }] } } },
    }),
    [],
  ],
  [
    'a rule of the backend',
    policyYaml('use', 'ProxyBackend', 'web', {
      backend: { transformation: { request: { set: [{ name: 'x-sub', value: 'jwt.sub' }] } } },
    }),
    [],
  ],
  [
    'the token for the backend',
    policyYaml('use', 'ProxyBackend', 'web', { backend: { auth: { passthrough: {} } } }),
    [],
  ],
  ['a rule for the tools of an MCP backend', TOOLS, []],
  ['the token for one MCP target', TARGET, []],
  ['a server that decides', policyYaml('use', 'Gateway', 'main', { traffic: { extAuth: server } }), []],
  [
    'a Strict mode at the route',
    policyYaml('use', 'HTTPRoute', 'all', {
      traffic: { basicAuthentication: users('Strict').traffic.basicAuthentication },
    }),
    [UNUSED],
  ],
])('optional tokens of a Gateway, and %s', async (_, use, expected) => {
  expect(await findingsOf(tokens('Optional'), use)).toEqual(expected)
  // One route that uses the identity is enough.
  expect(await findingsOf(tokens('Optional'), use, otherRoute)).toEqual(expected)
})

test('optional tokens without a route, or overridden everywhere, get no advice', async () => {
  expect(await findingsOf(tokens('Optional', 'HTTPRoute', 'absent'))).toEqual([])
  const narrow = tokens('Strict', 'HTTPRoute', 'all')
    .replace('name: tokens', 'name: strict')
    .replace('"tokens"', '"strict"')
  expect(await findingsOf(tokens('Optional'), narrow)).toEqual([])
})
