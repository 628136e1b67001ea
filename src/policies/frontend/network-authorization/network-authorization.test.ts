import { expect, test } from 'vitest'
import { Exchange } from '#exchange/exchange.ts'
import { Head } from '#net/http/head.ts'
import { verifies } from '#test/support/verifies.ts'
import { contextWith, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { networkAuthorization } from './index.ts'
import { frontendNetworkAuthorization } from './schema.ts'

function rulesOf(...rules: [action: string, ...expressions: string[]][]) {
  const context = contextWith()
  const sources = rules.map(([action, ...matchExpressions]) =>
    sourceOf(specFrom(frontendNetworkAuthorization, { action, policy: { matchExpressions } })),
  )
  return { context, rules: networkAuthorization.compile(sources, context) }
}

function connectionFrom(remoteAddress: string): Exchange {
  const exchange = new Exchange(new Head(), { ...exchangeWith().peer, remoteAddress })
  return exchange
}

verifies(
  ['frontend.networkAuthorization/rules', 'frontend.networkAuthorization/source-address'],
  'rules for the address of the client',
  () => {
    const { rules } = rulesOf(['Allow', 'cidr("10.0.0.0/8").containsIP(source.address)'])
    expect(rules?.denial(connectionFrom('10.1.2.3'))).toBeUndefined()
    expect(rules?.denial(connectionFrom('192.0.2.1'))).toBe('no Allow rule matched')
  },
)

test('rules of all policies apply', () => {
  const { rules } = rulesOf(['Require', 'source.port > 0'], ['Deny', 'source.address == "192.0.2.1"'])
  expect(rules?.denial(connectionFrom('192.0.2.2'))).toBeUndefined()
  expect(rules?.denial(connectionFrom('192.0.2.1'))).toContain('Deny rule')
})

test('a Deny rule that does not compile denies all connections', () => {
  const { rules, context } = rulesOf(['Deny', '1 +'])
  expect(rules?.denial(connectionFrom('192.0.2.1'))).toContain('Deny rule')
  expect(context.reports).toEqual(['cel-syntax spec.traffic.field.policy.matchExpressions[0]'])
})

test('a rule that a limit ended denies the connection', () => {
  const endless = 'lists.range(100000).exists(x, lists.range(100000).exists(y, source.address == "x"))'
  const { rules } = rulesOf(['Deny', endless], ['Allow', 'true'])
  expect(rules?.denial(connectionFrom('192.0.2.1'))).toContain('evaluation takes too many steps (column 31)')
})

test('compilation determines whether a rule reads the client certificate', () => {
  expect(rulesOf(['Allow', 'source.address == "x"']).rules?.readsCertificate).toBe(false)
  expect(rulesOf(['Require', 'true'], ['Allow', 'has(source.identity.namespace)']).rules?.readsCertificate).toBe(true)
  expect(rulesOf(['Deny', 'source.?spiffeId.orValue("") == "x"']).rules?.readsCertificate).toBe(true)
  expect(rulesOf(['Allow', 'has(source.certificate)']).rules?.readsCertificate).toBe(true)
  expect(rulesOf(['Deny', 'source.?identity.?namespace.orValue("") == "x"']).rules?.readsCertificate).toBe(true)
  expect(networkAuthorization.compile([], contextWith())).toBeUndefined()
})

test('lint reports Deny rules that may fail', () => {
  const { context } = rulesOf(
    ['Deny', 'source.spiffeId == "spiffe://a/b"'],
    ['Deny', 'cidr("192.0.2.0/24").containsIP(source.address)'],
    ['Require', 'source.identity.namespace == "x"'],
  )
  expect(context.reports).toEqual(['deny-can-fail spec.traffic.field.policy.matchExpressions[0]'])
})

test.each([
  ['source.address', false],
  ['source.port', false],
  ['source.identity', true],
  ['source.spiffeId', true],
  ['source.subjectAltNames', true],
  ['source.issuer', true],
  ['source.subject', true],
  ['source.subjectCn', true],
  ['source.certificate', true],
])('a rule that reads %s waits for the certificate: %s', (path, expected) => {
  expect(rulesOf(['Deny', `default(string(dyn(${path})), "") == "x"`]).rules?.readsCertificate).toBe(expected)
})
