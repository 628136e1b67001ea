import { expect, test } from 'vitest'
import { parseExactJson } from '#base/exact-json.ts'
import { NO_MCP, UNKNOWN_ANNOTATIONS } from '#exchange/mcp-facts.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { compileTestMcp } from '#test/support/mcp-plan.ts'
import { denialOf, filterItems, hasRules, isAllowed } from './authorization.ts'

type Action = 'Allow' | 'Deny' | 'Require'
type Rule = readonly [action: Action, expression: string]

/** Takes more steps than an evaluation may. */
const ENDLESS = 'lists.range(100000).exists(x, lists.range(100000).exists(y, mcp.tool.name == "none"))'

function authorizationOf(rules: readonly Rule[]) {
  const policies = [...Map.groupBy(rules, ([action]) => action)].map(([action, ofAction]) => ({
    authorization: { action, policy: { matchExpressions: ofAction.map(([, expression]) => expression) } },
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
  const endless = authorizationOf([['Deny', ENDLESS]])
  expect(denialOf(authorizationOf([['Allow', 'false']]), exchange)).toMatchObject({
    code: 'authorization-denied',
    detail: 'no Allow rule matched',
  })
  isAllowed(endless, exchange)
  const { code, detail } = denialOf(endless, exchange)
  expect(code).toBe('authorization-exceeded')
  expect(detail).toContain('evaluation takes too many steps')
})

/** The rule, then the outcome of a list and of calls with these arguments: `shown` or `hidden`, `called` or `refused`. */
const OF_ARGUMENTS: readonly [
  action: Action,
  expression: string,
  inList: string,
  calls: Readonly<Record<string, string>>,
][] = [
  [
    'Require',
    'mcp.tool.arguments.path.startsWith("/a/")',
    'shown',
    {
      '{"path":"/a/x"}': 'called',
      '{"path":"/b"}': 'refused',
      '{"path":["/a/"]}': 'refused',
      '{}': 'refused',
      null: 'refused',
    },
  ],
  [
    'Allow',
    'mcp.tool.arguments.amount < 100',
    'shown',
    {
      '{"amount":99}': 'called',
      '{"amount":99.5}': 'called',
      '{"amount":100}': 'refused',
      '{"amount":"1"}': 'refused',
      '{}': 'refused',
    },
  ],
  // A failed evaluation denies.
  [
    'Deny',
    'mcp.tool.arguments.path.startsWith("/etc")',
    'shown',
    { '{"path":"/a"}': 'called', '{"path":"/etc/x"}': 'refused', '{"path":["/etc/x"]}': 'refused', '{}': 'refused' },
  ],
  [
    'Deny',
    'mcp.tool.name == "y" && mcp.tool.arguments.path == "/"',
    'shown',
    { '{}': 'called', '{"path":"/"}': 'called' },
  ],
  ['Deny', 'has(mcp.tool.arguments.force)', 'shown', { '{}': 'called', '{"force":null}': 'refused' }],
  ['Deny', '!has(mcp.tool.arguments.tenant)', 'shown', { '{}': 'refused', '{"tenant":1}': 'called' }],
  [
    'Deny',
    'default(mcp.tool.arguments.n, 0) > 9007199254740992',
    'shown',
    { '{"n":9007199254740993}': 'refused', '{"n":9007199254740992}': 'called', '{}': 'called' },
  ],
  // Nothing recovers from arguments that are not known yet, but a rule may not need them.
  ['Deny', 'default(mcp.tool.arguments.a, 1) == 1', 'shown', { '{}': 'refused', '{"a":2}': 'called' }],
  ['Deny', 'coalesce(mcp.tool.arguments.a, 1) == 1', 'shown', { '{}': 'refused', '{"a":2}': 'called' }],
  ['Deny', 'mcp.?tool.?arguments.?a.orValue(1) == 1', 'shown', { '{}': 'refused', '{"a":2}': 'called' }],
  ['Deny', 'mcp.tool.arguments == {"a": 1}', 'shown', { '{}': 'called', '{"a":1}': 'refused' }],
  ['Deny', 'variables().mcp.tool.arguments.a == 1', 'shown', { '{"a":1}': 'refused', '{"a":2}': 'called' }],
  ['Require', 'mcp.tool.name != "x" && mcp.tool.arguments.a == 1', 'hidden', { '{"a":1}': 'refused' }],
  ['Require', 'mcp.tool.arguments.a == 1 && mcp.tool.name != "x"', 'hidden', { '{"a":1}': 'refused' }],
  ['Deny', 'mcp.tool.arguments.a == 1 || mcp.tool.name == "x"', 'hidden', { '{"a":2}': 'refused' }],
  ['Require', 'mcp.tool.name == "x" || mcp.tool.arguments.a == 1', 'shown', { '{}': 'called' }],
]

test.each(OF_ARGUMENTS)('%s %s: the tool is %s', (action, expression, inList, calls) => {
  const authorization = authorizationOf([[action, expression]])
  const listed = filterItems(authorization, exchangeWith(), { ...ITEMS, items: [{ id: 'x' }] })
  expect(listed.length === 1 ? 'shown' : 'hidden').toBe(inList)
  const outcomes = Object.keys(calls).map((text) => {
    const exchange = exchangeNaming('x')
    exchange.mcp!.toolArguments = parseExactJson(text)
    return [text, isAllowed(authorization, exchange) ? 'called' : 'refused']
  })
  expect(Object.fromEntries(outcomes)).toEqual(calls)
})

test.each<Rule>([
  ['Deny', 'mcp.tool.annotations.destructiveHint == true'],
  ['Require', 'mcp.tool.annotations.readOnlyHint == true'],
  ['Allow', 'mcp.tool.annotations.readOnlyHint == true'],
])('%s %s: a call of a tool with unknown annotations is refused', (...rule) => {
  const exchange = exchangeNaming('x')
  exchange.mcp!.toolAnnotations = UNKNOWN_ANNOTATIONS
  expect(isAllowed(authorizationOf([rule]), exchange)).toBe(false)
})

test.each<Rule>([
  ['Deny', 'request.headers["x-role"] == "guest"'],
  ['Require', 'request.headers["x-role"] != "guest"'],
  ['Allow', 'request.headers["x-role"] != "guest"'],
])('%s %s: a header in several lines with different results denies', (...rule) => {
  const judged = [
    ['guest', 'x'],
    ['y', 'x'],
  ].map((lines) => {
    const exchange = exchangeNaming('t')
    for (const line of lines) exchange.request.append('x-role', line)
    return isAllowed(authorizationOf([rule]), exchange) ? 'allowed' : denialOf(authorizationOf([rule]), exchange).detail
  })
  expect(judged).toEqual([expect.stringContaining('compares x-role, which came in several lines'), 'allowed'])
})

test('a Deny rule about arguments denies no items but tools', () => {
  const exchange = exchangeNaming('x')
  exchange.mcp!.resourceType = 'prompt'
  expect(isAllowed(authorizationOf([['Deny', 'mcp.tool.arguments.path == "/"']]), exchange)).toBe(true)
})

test('the log says which Deny rule failed, and why', () => {
  const exchange = exchangeNaming('x')
  exchange.mcp!.toolArguments = { path: ['secret'] }
  const { detail } = denialOf(authorizationOf([['Deny', 'mcp.tool.arguments.path.startsWith("/")']]), exchange)
  expect(detail).toMatch(/^Deny rule .*matchExpressions\[0\] of ProxyPolicy .* failed: /)
  expect(detail).not.toContain('secret')
})

const UNKNOWN = 'the annotations of the tool are not known'

test.each<[rules: readonly Rule[], detail: string]>([
  [[['Deny', 'true']], 'Deny rule R0'],
  [
    [
      ['Require', 'true'],
      ['Require', 'mcp.tool.name == "y"'],
    ],
    'Require rule R1',
  ],
  [[['Require', 'mcp.tool.nam == ']], 'a rule of backend.mcp.authorization does not compile'],
  [[['Deny', 'mcp.tool.annotations.destructiveHint']], `Deny rule R0 failed: ${UNKNOWN}`],
  [[['Require', 'mcp.tool.annotations.readOnlyHint']], `Require rule R0 failed: ${UNKNOWN}`],
  [
    [
      ['Allow', 'mcp.prompt.name == "x"'],
      ['Allow', 'mcp.tool.annotations.readOnlyHint'],
    ],
    `no Allow rule matched; Allow rule R1 failed: ${UNKNOWN}`,
  ],
  [
    [
      ['Require', 'mcp.tool.name == "y"'],
      ['Allow', 'mcp.tool.annotations.readOnlyHint'],
    ],
    'Require rule R0',
  ],
  [[['Require', 'mcp.prompt.name == "x"']], 'Require rule R0 failed: no such key: mcp.prompt.name'],
])('the log says which of the rules %j decided, and why it failed', (rules, expected) => {
  const exchange = exchangeNaming('x')
  exchange.mcp!.toolAnnotations = UNKNOWN_ANNOTATIONS
  const { detail } = denialOf(authorizationOf(rules), exchange)
  const short = detail.replaceAll(/\S+matchExpressions\[(\d)\] of ProxyPolicy \S+(?: \(\S+\))?/g, 'R$1')
  expect(short.replaceAll(/ \(column.*/gs, '')).toBe(expected)
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

const annotationsOf = ({ id }: { id: string }) => ({
  title: undefined,
  readOnlyHint: id === 'x',
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
})

test.each([
  ['mcp.tool.arguments.a == 1', 'tool', ['x', 'y']],
  ['mcp.tool.arguments.a == 1', 'prompt', []],
  ['has(mcp.tool)', 'tool', ['x', 'y']],
  ['has(mcp.tool)', 'prompt', []],
  ['!has(mcp.tool)', 'resource', ['x', 'y']],
  ['mcp.tool.annotations.readOnlyHint', 'tool', ['x']],
  ['mcp.tool.annotations.readOnlyHint', 'resource', []],
] as const)('items that require %s in a list of items of kind %s: %j', (expression, kind, left) => {
  const authorization = authorizationOf([['Require', expression]])
  expect(filterItems(authorization, exchangeWith(), { ...ITEMS, kind, annotationsOf }).map(({ id }) => id)).toEqual(
    left,
  )
})

test('a list of a request about which nothing is known', () => {
  const exchange = exchangeWith()
  expect(filterItems(authorizationOf([['Deny', 'mcp.tool.name == "x"']]), exchange, ITEMS)).toEqual([{ id: 'y' }])
  expect(exchange.mcp).toBe(undefined)
})

test('a list whose evaluation a limit ends is empty, and the log says why', () => {
  const exchange = exchangeNaming('x')
  expect(filterItems(authorizationOf([['Allow', ENDLESS]]), exchange, ITEMS)).toEqual([])
  expect([exchange.refusal, exchange.reason]).toEqual(['authorization-exceeded', 'ExpressionLimit'])
  expect(exchange.decidedBy).toMatchObject({ stage: 'backend', field: 'mcp.authorization' })
  expect(exchange.refusalDetail).toContain('evaluation takes too many steps')
})

function exchangeReading(uri: string) {
  const exchange = exchangeNaming(uri)
  exchange.mcp!.resourceType = 'resource'
  return exchange
}

const PUBLIC: Rule = ['Allow', 'mcp.resource.name.startsWith("file:///pub/")']
const NOT_ETC: Rule = ['Deny', 'mcp.resource.name.startsWith("file:///etc/")']
const ONLY_FILES: Rule = ['Require', 'mcp.resource.name.startsWith("file:")']

test.each<[rule: Rule, uri: string, allowed: boolean]>([
  [PUBLIC, 'file:///pub/a', true],
  [PUBLIC, 'file:///pub/../etc/passwd', false],
  [PUBLIC, 'file:///pub/%2e%2e/etc/passwd', false],
  [PUBLIC, 'file:///pub/..%2fetc/passwd', false],
  // As written, no rule allows it; the target may not normalise.
  [PUBLIC, 'file:///x/../pub/a', false],
  [PUBLIC, 'file:///pub/x/../a', true],
  [NOT_ETC, 'file:///pub/a', true],
  [NOT_ETC, 'file:///pub/../etc/passwd', false],
  [NOT_ETC, 'FILE:///etc/passwd', false],
  [NOT_ETC, 'file:///%65tc/passwd', false],
  // As written, a rule denies it.
  [NOT_ETC, 'file:///etc/../pub/a', false],
  [ONLY_FILES, 'FILE:///etc/passwd', false],
  [ONLY_FILES, 'file:///./etc/passwd', true],
])('%j: the resource %s may be read, and is listed: %s', (rule, uri, allowed) => {
  const authorization = authorizationOf([rule])
  const exchange = exchangeReading(uri)
  expect(isAllowed(authorization, exchange)).toBe(allowed)
  expect(exchange.mcp?.name).toBe(uri)
  const items = { items: [uri], kind: 'resource', target: 'a', nameOf: (item: string) => item } as const
  expect(filterItems(authorization, exchange, items)).toEqual(allowed ? [uri] : [])
})

test('names of tools have one form', () => {
  expect(isAllowed(authorizationOf([['Deny', 'mcp.tool.name == "a:b"']]), exchangeNaming('A:%62'))).toBe(true)
})

test('the log says under which URI a resource was denied', () => {
  const detailOf = (uri: string) => denialOf(authorizationOf([NOT_ETC]), exchangeReading(uri)).detail
  expect(detailOf('file:///etc/passwd')).toMatch(/^Deny rule /)
  expect(detailOf('FILE:///etc/passwd')).toMatch(/^in normal form, the URI is "file:\/\/\/etc\/passwd": Deny rule /)
})
