import { expect, test } from 'vitest'
import { NO_MCP } from '#exchange/mcp-facts.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { compileTestMcp } from '#test/support/mcp-plan.ts'
import { denialOf, filterItems, hasRules, isAllowed } from './authorization.ts'

type Action = 'Allow' | 'Deny' | 'Require'
type Rule = readonly [action: Action, expression: string]

/** Takes more steps than an evaluation may. */
const ENDLESS = 'lists.range(100000).exists(x, lists.range(100000).exists(y, mcp.tool.name == "none"))'

function authorizationOf(rules: readonly Rule[]) {
  const policies = rules.map(([action, expression]) => ({
    authorization: { action, policy: { matchExpressions: [expression] } },
  }))
  return compileTestMcp({ targets: [{ name: 'a' }] }, policies).plan.authorization
}

function exchangeNaming(name: string) {
  const exchange = exchangeWith()
  exchange.mcp = { ...NO_MCP, method: 'tools/call', sessionId: 's', target: 'a', resourceType: 'tool', name }
  return exchange
}

test.each<[rules: readonly Rule[], has: boolean]>([
  [[], false],
  [[['Allow', 'true']], true],
  [[['Deny', 'false']], true],
  [[['Require', 'true']], true],
  [[['Deny', 'mcp.tool.nam == ']], true],
])('rules %j restrict items: %s', (rules, has) => {
  expect(hasRules(authorizationOf(rules))).toBe(has)
})

test.each<[rules: readonly Rule[], allowed: boolean]>([
  [[], true],
  [[['Deny', 'true']], false],
  [[['Deny', 'false']], true],
  [
    [
      ['Deny', 'false'],
      ['Deny', 'true'],
    ],
    false,
  ],
  [[['Require', 'true']], true],
  [[['Require', 'false']], false],
  [
    [
      ['Require', 'true'],
      ['Require', 'false'],
    ],
    false,
  ],
  [[['Allow', 'true']], true],
  [[['Allow', 'false']], false],
  [
    [
      ['Allow', 'false'],
      ['Allow', 'true'],
    ],
    true,
  ],
  [
    [
      ['Allow', 'true'],
      ['Deny', 'true'],
    ],
    false,
  ],
  [
    [
      ['Allow', 'true'],
      ['Require', 'false'],
    ],
    false,
  ],
  [
    [
      ['Allow', 'false'],
      ['Require', 'true'],
      ['Deny', 'false'],
    ],
    false,
  ],
  [
    [
      ['Allow', 'true'],
      ['Require', 'true'],
      ['Deny', 'false'],
    ],
    true,
  ],
  [[['Deny', 'mcp.tool.name == "x"']], false],
  [[['Deny', 'mcp.tool.name == "y"']], true],
  // A rule that does not compile, and one that an evaluation limit ends, allow nothing.
  [[['Deny', 'mcp.tool.nam == ']], false],
  [
    [
      ['Allow', 'true'],
      ['Allow', 'mcp.tool.nam == '],
    ],
    false,
  ],
  [
    [
      ['Allow', ENDLESS],
      ['Allow', 'true'],
    ],
    false,
  ],
])('rules %j allow the tool x: %s', (rules, allowed) => {
  expect(isAllowed(authorizationOf(rules), exchangeNaming('x'))).toBe(allowed)
})

test('the log says whether a rule denied an item, or a limit ended the evaluation', () => {
  const exchange = exchangeNaming('x')
  expect(denialOf(exchange)).toEqual({ code: 'authorization-denied', detail: 'by backend.mcp.authorization' })
  isAllowed(authorizationOf([['Deny', ENDLESS]]), exchange)
  const { code, detail } = denialOf(exchange)
  expect(code).toBe('authorization-exceeded')
  expect(detail).toContain('evaluation takes too many steps')
})

const ITEMS = {
  items: [{ id: 'x' }, { id: 'y' }],
  kind: 'tool',
  target: 'b',
  nameOf: ({ id }: { id: string }) => id,
} as const

test.each([
  ['mcp.tool.name == "x"', ['y']],
  ['mcp.tool.name == "x" && mcp.tool.target == "b"', ['y']],
  ['mcp.tool.target == "a"', ['x', 'y']],
  ['mcp.methodName == "tools/list" && mcp.sessionId == "s"', []],
  ['has(mcp.prompt.name) || has(mcp.resource.name)', ['x', 'y']],
])('a list of target b without the items for which %s', (expression, left) => {
  const exchange = exchangeWith()
  const facts = { ...NO_MCP, method: 'tools/list', sessionId: 's' }
  exchange.mcp = facts
  const items = filterItems(authorizationOf([['Deny', expression]]), exchange, ITEMS)
  expect(items.map(({ id }) => id)).toEqual(left)
  expect(exchange.mcp).toBe(facts)
  expect([exchange.refusal, exchange.refusalDetail, exchange.reason]).toEqual([undefined, undefined, 'Upstream'])
})

test('a list of a request about which nothing is known', () => {
  const exchange = exchangeWith()
  expect(filterItems(authorizationOf([['Deny', 'mcp.tool.name == "x"']]), exchange, ITEMS)).toEqual([{ id: 'y' }])
  expect(exchange.mcp).toBe(undefined)
})

test('a list whose evaluation a limit ends is empty, and the log says why', () => {
  const exchange = exchangeNaming('x')
  expect(filterItems(authorizationOf([['Allow', ENDLESS]]), exchange, ITEMS)).toEqual([])
  expect([exchange.refusal, exchange.reason]).toEqual(['authorization-exceeded', 'Authorization'])
  expect(exchange.refusalDetail).toContain('evaluation takes too many steps')
})
