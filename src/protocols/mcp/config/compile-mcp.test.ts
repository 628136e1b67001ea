import { expect, test } from 'vitest'
import { backendHealth } from '#policies/backend/health/schema.ts'
import { specFrom } from '#policies/shared/testing.ts'
import { compileTestMcp, MCP_BACKEND } from '#test/support/mcp-plan.ts'
import { verifies } from '#test/support/verifies.ts'

verifies(
  ['backend.mcp/failureMode-default', 'backend.mcp.targets.static/path-default-streamable-http'],
  'a target alone',
  () => {
    const { plan, problems } = compileTestMcp({ targets: [{ name: 'a' }] })
    expect(problems).toEqual([])
    expect(plan).toMatchObject({
      backend: MCP_BACKEND,
      multiplexes: false,
      sessionRouting: 'Stateful',
      failureMode: 'FailClosed',
      authentication: undefined,
      targets: [{ name: 'a', destination: `${MCP_BACKEND}/a`, path: '/mcp', takesCredentials: false }],
    })
  },
)

test('a path of its own, and credentials that go on', () => {
  const { plan } = compileTestMcp({ targets: [{ name: 'a', path: '/x', auth: { passthrough: {} } }, { name: 'b' }] })
  expect(plan.multiplexes).toBe(true)
  expect(plan.targets).toMatchObject([
    { path: '/x', takesCredentials: true },
    { path: '/mcp', takesCredentials: false },
  ])
})

test('a target with the older transport has its event stream at /sse unless a path is set', () => {
  const targets = [
    { name: 'a', protocol: 'SSE' },
    { name: 'b', protocol: 'SSE', path: '/events' },
  ] as const
  const { plan, problems } = compileTestMcp({ targets })
  expect(problems).toEqual([])
  expect(plan.targets).toMatchObject([
    { path: '/sse', protocol: 'SSE', unusable: undefined },
    { path: '/events', protocol: 'SSE' },
  ])
})

test('a broken target is kept and unusable', () => {
  const { plan, problems } = compileTestMcp({ targets: [{ name: 'a', broken: 'Service x does not exist' }] })
  expect(problems).toEqual([])
  expect(plan.targets).toMatchObject([{ unusable: 'Service x does not exist' }])
})

test('rules of all levels are kept, by action', () => {
  const { plan, problems } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: ['true', 'false'] } } },
    {},
    { authorization: { action: 'Allow', policy: { matchExpressions: ['true'] } } },
    { authorization: { action: 'Require', policy: { matchExpressions: ['true'] } } },
  ])
  expect(problems).toEqual([])
  const { deny, allow, require, broken } = plan.authorization
  expect([deny.length, allow.length, require.length, broken]).toEqual([2, 1, 1, false])
})

test('one broken rule hides everything', () => {
  const { plan, problems } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: ['false', 'mcp.tool.nam == '] } } },
  ])
  expect(problems[0]).toMatch(/^spec\.backend\.mcp\.authorization\.policy\.matchExpressions\[1\] cel-/)
  expect(plan.authorization.broken).toBe(true)
})

test('a Deny rule that may fail is said to; with a guard it may not', () => {
  const { problems } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions: ['mcp.tool.name != "echo"'] } } },
    { authorization: { action: 'Deny', policy: { matchExpressions: ['has(mcp.tool.name) && mcp.tool.name != "x"'] } } },
    { authorization: { action: 'Allow', policy: { matchExpressions: ['has(mcp.tool) && mcp.tool.name == "echo"'] } } },
  ])
  expect(problems).toEqual(['spec.backend.mcp.authorization.policy.matchExpressions[0] deny-can-fail'])
})

test.each<[expression: string, ofArguments: boolean, ofAnnotations: boolean]>([
  ['has(mcp.tool) && mcp.tool.name == "x"', false, false],
  ['mcp.tool.arguments.x == 1', true, false],
  ['mcp.tool.annotations.readOnlyHint', false, true],
  ['has(mcp.tool.annotations)', false, true],
  ['toJson(mcp) == ""', true, true],
])('what %s needs to know of tools', (expression, ofArguments, ofAnnotations) => {
  const { plan } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Allow', policy: { matchExpressions: [expression] } } },
  ])
  const { argumentShape, readsAnnotations } = plan.authorization
  expect([argumentShape !== undefined, readsAnnotations]).toEqual([ofArguments, ofAnnotations])
})

test('a Deny rule about arguments denies when it fails, so it needs no guard', () => {
  const matchExpressions = ['has(mcp.tool) && mcp.tool.arguments.path == "/"', 'mcp.tool.name != "echo"']
  const { problems } = compileTestMcp({ targets: [{ name: 'a' }] }, [
    { authorization: { action: 'Deny', policy: { matchExpressions } } },
  ])
  expect(problems).toEqual(['spec.backend.mcp.authorization.policy.matchExpressions[1] deny-can-fail'])
})

test('an Allow rule that hides prompts and resources is reported, unless a rule of another policy is for those', () => {
  const tools = {
    authorization: { action: 'Allow', policy: { matchExpressions: ['mcp.tool.name != "x"'] } },
  } as const
  const prompts = { authorization: { action: 'Allow', policy: { matchExpressions: ['has(mcp.prompt)'] } } } as const
  expect(compileTestMcp({ targets: [{ name: 'a' }] }, [tools]).problems).toEqual([
    'spec.backend.mcp.authorization.policy.matchExpressions[0] rule-hides-kind',
  ])
  expect(compileTestMcp({ targets: [{ name: 'a' }] }, [tools, prompts]).problems).toEqual([])
})

test.each<[policy: readonly [spec: object, target: string], problems: readonly string[]]>([
  [[{ eviction: { duration: '3s' } }, MCP_BACKEND], ['spec.backend.health.eviction no-effect']],
  [[{ eviction: { duration: '3s' } }, `${MCP_BACKEND}/a`], ['spec.backend.health.eviction no-effect']],
  [[{ unhealthyCondition: 'response.code == 429' }, MCP_BACKEND], []],
  // Requests of routes to the Service can choose another endpoint.
  [[{ eviction: { duration: '3s' } }, 'Service/default/tools'], []],
])('eviction has no effect on targets, and is reported once: %j', ([spec, target], problems) => {
  const health = [specFrom(backendHealth, spec), target] as const
  expect(compileTestMcp({ targets: [{ name: 'a' }, { name: 'b' }], health }).problems).toEqual(problems)
})
