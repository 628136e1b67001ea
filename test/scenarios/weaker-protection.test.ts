import { expect, test } from 'vitest'
import { backendYaml, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'
import { seeRequest } from '#test/support/see-request.ts'

/** What lint says about settings that protect less than their authors may believe. */

const OBJECTS = joinYaml(gatewayYaml(8080), backendYaml('web', 9000), routeYaml('all', '/', 'web'))
const users = (mode: string) => ({
  traffic: { basicAuthentication: { mode, users: ['ann:{SHA}QY7lFvHLCVxQ/y8Qp2GSiJwoHzo='] } },
})

const CODES = ['protection-weakened', 'overridden-by-tie', 'audience-any', 'fails-open']

async function findingsOf(...policies: string[]): Promise<readonly string[]> {
  const { findings } = await seeRequest(joinYaml(OBJECTS, ...policies))
  return findings
    .filter(({ code }) => CODES.includes(code))
    .map(
      ({ severity, code, origin, path, message }) =>
        `${severity} ${code} ${origin.name} ${path}: ${message.replace(/ \(\/[^)]*\)/, '')}`,
    )
}

test.each([
  ['Optional', true],
  ['Strict', false],
])('a route overrides the Strict mode of its Gateway with %s: advice %s', async (mode, isAdvised) => {
  const found = await findingsOf(
    policyYaml('wide', 'Gateway', 'main', users('Strict')),
    policyYaml('narrow', 'HTTPRoute', 'all', users(mode)),
  )
  const advice =
    'advice protection-weakened narrow spec.traffic.basicAuthentication.mode: protects less than spec.traffic.basicAuthentication of ProxyPolicy default/wide, which it overrides here: requests without a credential pass'
  expect(found).toEqual(isAdvised ? [advice] : [])
})

test('nothing is weaker than a mode that requires nothing', async () => {
  const wide = policyYaml('wide', 'Gateway', 'main', users('Optional'))
  expect(await findingsOf(wide, policyYaml('narrow', 'HTTPRoute', 'all', users('Optional')))).toEqual([])
})

test.each([
  ['Optional', 'Strict', ', which protects less: requests without a credential pass there'],
  ['Strict', 'Optional', ''],
])('a tie that %s wins over %s', async (winner, loser, effect) => {
  const found = await findingsOf(
    policyYaml('a', 'HTTPRoute', 'all', users(winner)),
    policyYaml('b', 'HTTPRoute', 'all', users(loser)),
  )
  expect(found).toEqual([
    `warning overridden-by-tie b spec.traffic.basicAuthentication: traffic.basicAuthentication is overridden by ProxyPolicy default/a at HTTPRoute/default/all${effect}`,
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
