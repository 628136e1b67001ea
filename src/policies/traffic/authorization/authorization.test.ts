import { expect, test } from 'vitest'
import { validate } from '#schema/index.ts'
import { verifies } from '#test/support/verifies.ts'
import { codeOf, contextWith, type ExchangeInputs, exchangeWith, sourceOf, specFrom } from '../../shared/testing.ts'
import { authorization } from './index.ts'
import { trafficAuthorization } from './schema.ts'

const T = 'true'
const F = 'false'
const FAILS = 'request.headers["absent"] == "x"'
const NUMBER = '42'
const BROKEN = '1 +'

type Rules = readonly (readonly [action: 'Allow' | 'Deny' | 'Require' | undefined, ...expressions: string[]])[]

function policyOf(rules: Rules) {
  const context = contextWith()
  const sources = rules.map(([action, ...matchExpressions]) =>
    sourceOf(specFrom(trafficAuthorization, { action, policy: { matchExpressions } })),
  )
  return { context, run: authorization.compile(sources, context)! }
}

const PASS = 'proceed'
const DENIED = 'authorization-denied'

type Case = readonly [Rules, typeof PASS | typeof DENIED]

function check(cases: readonly Case[]): void {
  for (const [rules, outcome] of cases) {
    expect(codeOf(policyOf(rules).run.request!(exchangeWith())), JSON.stringify(rules)).toBe(outcome)
  }
}

test('a policy has 1 to 256 expressions', () => {
  const problemsOf = (count: number) =>
    validate(trafficAuthorization, { policy: { matchExpressions: Array.from({ length: count }, () => T) } }).problems
  expect([0, 1, 256, 257].map((count) => problemsOf(count).length)).toEqual([1, 0, 0, 1])
})

verifies('authorization/no-rules', 'no rules', () => check([[[], PASS]]))
verifies('authorization/action-default', 'a rule without action allows', () => {
  check([
    [[[undefined, T]], PASS],
    [[[undefined, F]], DENIED],
  ])
})
verifies('authorization/allow-any', 'any Allow rule, any of its expressions', () => {
  check([
    [[['Allow', T]], PASS],
    [
      [
        ['Allow', F],
        ['Allow', T],
      ],
      PASS,
    ],
    [[['Allow', F, T]], PASS],
  ])
})
verifies('authorization/allow-denies-others', 'Allow rules, none of which matches', () => {
  check([
    [[['Allow', F]], DENIED],
    [
      [
        ['Deny', F],
        ['Allow', F],
      ],
      DENIED,
    ],
    [
      [
        ['Require', T],
        ['Allow', F],
      ],
      DENIED,
    ],
  ])
})
verifies('authorization/deny-any', 'any Deny rule, any of its expressions, despite matching Allow rules', () => {
  check([
    [[['Deny', T]], DENIED],
    [[['Deny', F]], PASS],
    [[['Deny', F, T]], DENIED],
    [
      [
        ['Deny', F],
        ['Deny', T],
      ],
      DENIED,
    ],
    [
      [
        ['Allow', T],
        ['Deny', T],
      ],
      DENIED,
    ],
  ])
})
verifies('authorization/require-all', 'every expression of a Require rule', () => {
  check([
    [[['Require', T, T]], PASS],
    [[['Require', T, F]], DENIED],
    [
      [
        ['Require', F],
        ['Allow', T],
      ],
      DENIED,
    ],
  ])
})
verifies(
  ['authorization/require-across-policies', 'traffic.authorization/merges'],
  'Require rules of several policies',
  () => {
    check([
      [
        [
          ['Require', T],
          ['Require', T],
        ],
        PASS,
      ],
      [
        [
          ['Require', T],
          ['Require', F],
        ],
        DENIED,
      ],
    ])
  },
)
verifies('authorization/failure-no-match', 'a failed or non-boolean expression does not match', () => {
  check([
    [[['Allow', FAILS]], DENIED],
    [[['Allow', NUMBER]], DENIED],
    [[['Require', FAILS]], DENIED],
    [[['Allow', FAILS, T]], PASS],
  ])
})
verifies('authorization/failure-deny-passes', 'a Deny rule that fails does not deny', () => {
  check([
    [[['Deny', FAILS]], PASS],
    [[['Deny', NUMBER]], PASS],
  ])
})

const broken: readonly Case[] = [
  [[['Deny', BROKEN]], DENIED],
  [
    [
      ['Allow', T],
      ['Deny', BROKEN],
    ],
    DENIED,
  ],
  [[['Require', BROKEN]], DENIED],
  [[['Allow', BROKEN]], DENIED],
  [[['Allow', BROKEN, T]], PASS],
]
for (const [rules, outcome] of broken) {
  test(`a rule that does not compile, ${JSON.stringify(rules)}: ${outcome}`, () => {
    const { context, run } = policyOf(rules)
    expect(codeOf(run.request!(exchangeWith()))).toBe(outcome)
    expect(context.reports).toEqual(['cel-syntax spec.traffic.field.policy.matchExpressions[0]'])
  })
}

/** Exceeds the budget of steps. */
const ENDLESS = 'lists.range(100000).exists(x, lists.range(100000).exists(y, request.path == "x"))'

test.each<Rules>([
  [['Deny', ENDLESS]],
  [['Deny', F, ENDLESS, F]],
  [
    ['Deny', ENDLESS],
    ['Allow', T],
  ],
  [['Require', T, ENDLESS]],
  [['Allow', ENDLESS, T]],
  [['Allow', F, ENDLESS]],
])('a limit denies whatever the action of the rule: %j', (...rules) => {
  const exchange = exchangeWith()
  const refused = policyOf(rules).run.request!(exchange)
  expect(codeOf(refused)).toBe('authorization-exceeded')
  expect(refused).toMatchObject({
    detail: expect.stringMatching(
      /^spec\.traffic\.field\.policy\.matchExpressions\[\d\] of ProxyPolicy default\/test: evaluation takes too many steps \(column 31\)\n/,
    ),
  })
  // The limit must not affect later steps of the exchange.
  expect(exchange.exceeded).toBeUndefined()
})

test('the rules of a request share its step budget', () => {
  const costly = 'lists.range(20000).all(x, string(x) != "" || request.path == "x")'
  const rules: Rules = [['Deny', ...Array.from({ length: 16 }, () => `!${costly}`)]]
  expect(codeOf(policyOf([['Deny', `!${costly}`]]).run.request!(exchangeWith()))).toBe(PASS)
  expect(codeOf(policyOf(rules).run.request!(exchangeWith()))).toBe('authorization-exceeded')
})

test.each<Rules>([[['Allow', F]], [['Deny', T]], [['Require', F]]])('a refusal is prepared: %j', (...rules) => {
  const { request } = policyOf(rules).run
  expect(request!(exchangeWith())).toBe(request!(exchangeWith()))
})

test('the detail of a denial has the reason of a failed evaluation', () => {
  const detailOf = (rules: Rules) => (policyOf(rules).run.request!(exchangeWith()) as { detail?: string }).detail
  const where = 'spec.traffic.field.policy.matchExpressions'
  expect(detailOf([['Require', T, FAILS]])).toBe(
    `Require rule ${where}[1] of ProxyPolicy default/test failed: no such key: request.headers.absent (column 1)\n${FAILS}\n^`,
  )
  expect(detailOf([['Require', NUMBER]])).toBe(
    `Require rule ${where}[0] of ProxyPolicy default/test failed: its result is not a bool`,
  )
  expect(detailOf([['Require', F]])).toBe(`Require rule ${where}[0] of ProxyPolicy default/test`)
  expect(detailOf([['Allow', F, FAILS]])).toContain('no Allow rule matched; Allow rule')
  expect(detailOf([['Allow', F, FAILS]])).toContain('[1] of ProxyPolicy default/test failed: no such key')
  expect(detailOf([['Allow', F, FAILS, NUMBER]])).toContain('[1] of ProxyPolicy default/test failed: no such key')
  expect(detailOf([['Allow', F]])).toBe('no Allow rule matched')
})

test('the detail of a refusal names the rule', () => {
  const refused = policyOf([['Deny', F, T]]).run.request!(exchangeWith())
  expect(refused).toMatchObject({
    detail: 'Deny rule spec.traffic.field.policy.matchExpressions[1] of ProxyPolicy default/test',
  })
})

test('the body is buffered only if a rule reads it', () => {
  expect(policyOf([['Allow', T]]).run.readsRequestBody).toBe(false)
  expect(policyOf([['Allow', 'size(request.body) > 0']]).run.readsRequestBody).toBe(true)
  const prefix: readonly ['Allow', string] = ['Allow', 'size(request.bodyPrefix) > 0']
  expect(policyOf([prefix]).run.readsRequestBody).toBe('prefix')
  expect(policyOf([prefix, ['Deny', 'size(request.body) > 9']]).run.readsRequestBody).toBe(true)
})

test.each([
  ['Deny', 'request.headers["x-role"] == "guest"', 'request.headers["x-role"] may be missing'],
  ['Deny', 'jwt.role != "admin"', 'jwt.role may be missing'],
  ['Deny', 'has(request.headers.x) && request.headers.x.startsWith("a")', undefined],
  ['Deny', 'has(jwt.role) && jwt.role != "admin"', undefined],
  ['Deny', 'default(jwt.role, "") != "admin"', undefined],
  ['Deny', 'source.address == "192.0.2.1"', undefined],
  ['Require', 'jwt.role == "admin"', undefined],
  ['Allow', 'jwt.role == "admin"', undefined],
] as const)('%s rule %s: warning that it may fail: %j', (action, expression, why) => {
  const { context } = policyOf([[action, expression]])
  const warnings = context.problems.filter(({ severity }) => severity !== 'advice')
  expect(warnings.map(({ code, severity }) => `${severity} ${code}`)).toEqual(
    why === undefined ? [] : ['warning deny-can-fail'],
  )
  expect(warnings.map(({ message }) => message).join()).toContain(why ?? '')
})

test.each([
  ['request.headers["x-guest"] == "1"', 'write default(request.headers["x-guest"], "")'],
  ['jwt.role != "admin"', 'write default(jwt.role, "")'],
  ['jwt.level > 3', 'write default(jwt.level, 0)'],
  ['source.address == "::1" && "a" in jwt.roles', 'write default(jwt.roles, [])'],
  ['int(request.method) > 1', 'handle the failure, for example with coalesce()'],
])('the advice about Deny rule %s compiles: %s', (expression, advice) => {
  const { context } = policyOf([['Deny', expression]])
  expect(context.problems.map(({ message }) => message.split('\n')[0]).join()).toContain(`; ${advice}`)
  const [, part, safe] = /(\S+) may be missing .*; write (.+)/.exec(context.problems[0]!.message) ?? []
  if (part === undefined || safe === undefined) return
  const mended = policyOf([['Deny', expression.replace(part, safe)]]).context.problems
  expect(mended.filter(({ severity }) => severity !== 'advice')).toEqual([])
})

const ROLE = 'default(request.headers["x-role"], "none")'

test.each([
  ['Deny', `${ROLE} == "guest"`, 'and the request is not denied'],
  ['Require', `${ROLE} != "guest"`, 'and the request is allowed'],
  ['Allow', `!${ROLE}.startsWith("guest")`, 'and the request is allowed'],
  ['Deny', `${ROLE} != "admin"`, undefined],
  ['Require', `${ROLE} == "admin"`, undefined],
  ['Deny', '"guest" in default(request.headers.split()["x-role"], [])', undefined],
  ['Deny', 'request.headers["host"] == "a"', undefined],
  ['Deny', 'source.address == "192.0.2.1"', undefined],
] as const)('%s rule %s: advice that a client can bypass it: %j', (action, expression, effect) => {
  const { context } = policyOf([[action, expression]])
  const advice = context.problems.filter(({ severity }) => severity === 'advice')
  expect(advice.map(({ code }) => code)).toEqual(effect === undefined ? [] : ['rule-on-client-field'])
  expect(advice.map(({ message }) => message).join()).toContain(effect ?? '')
})

const BLOCKED = 'request.headers["x-blocked"] == "1"'
const NOT_BLOCKED = 'default(request.headers["x-blocked"], "") != "1"'

test.each<
  [
    action: 'Allow' | 'Deny' | 'Require',
    expression: string,
    headers: NonNullable<ExchangeInputs['headers']>,
    code: string,
  ]
>([
  ['Deny', BLOCKED, { 'x-blocked': ['0', '1'] }, DENIED],
  ['Deny', BLOCKED, { 'x-blocked': ['1', '0'] }, DENIED],
  ['Deny', BLOCKED, { 'x-blocked': ['0', '2'] }, PASS],
  ['Deny', BLOCKED, { 'x-blocked': '0, 1' }, PASS],
  ['Deny', BLOCKED, { 'x-blocked': '0', 'x-other': ['1', '0'] }, PASS],
  ['Require', NOT_BLOCKED, { 'x-blocked': ['0', '1'] }, DENIED],
  ['Require', NOT_BLOCKED, { 'x-blocked': ['0', '2'] }, PASS],
  ['Allow', NOT_BLOCKED, { 'x-blocked': ['1', '0'] }, DENIED],
  ['Allow', NOT_BLOCKED, { 'x-blocked': ['2', '0'] }, PASS],
  ['Deny', 'request.headers["accept"] == "a/b"', { accept: ['a/b', 'c/d'] }, PASS],
  [
    'Deny',
    'request.headers["x-forwarded-for"].startsWith("10.")',
    { 'x-forwarded-for': ['192.0.2.1', '10.1.1.1'] },
    PASS,
  ],
  ['Allow', '"1" in request.headers.split()["x-blocked"]', { 'x-blocked': ['0', '1'] }, PASS],
])('%s %s with lines that servers read differently, %j: %s', (action, expression, headers, code) => {
  const exchange = exchangeWith({ headers })
  const { request } = exchange
  const outcome = policyOf([[action, expression]]).run.request!(exchange)
  expect(codeOf(outcome)).toBe(code)
  expect(exchange.request).toBe(request)
})

test('the detail names the field that came in several lines', () => {
  const outcome = policyOf([['Deny', BLOCKED]]).run.request!(exchangeWith({ headers: { 'x-blocked': ['0', '1'] } }))
  expect(outcome).toMatchObject({ detail: expect.stringMatching(/compares x-blocked, which came in several lines/) })
})

test('a client that lacks scopes learns which ones; one that lacks something else does not', () => {
  const refuse = (expression: string) => {
    const exchange = exchangeWith({ headers: { 'x-role': 'guest' } })
    exchange.identity.jwt = { claims: { scope: 'read' }, token: 't' }
    exchange.stepUp = {
      challengeScopes({ identity }, allows) {
        const { jwt } = identity
        identity.jwt = { claims: { scope: 'read write' }, token: 't' }
        const helps = allows()
        identity.jwt = jwt
        return helps ? [['www-authenticate', 'Bearer scope="write"']] : undefined
      },
    }
    return policyOf([['Require', expression]]).run.request!(exchange)
  }
  expect(refuse('"write" in jwt.scope.split(" ")')).toMatchObject({
    code: 'authorization-denied',
    detail: 'Require rule spec.traffic.field.policy.matchExpressions[0] of ProxyPolicy default/test',
    headers: [['www-authenticate', 'Bearer scope="write"']],
  })
  expect(refuse('"write" in jwt.scope.split(" ") && request.headers["x-role"] == "admin"')).toMatchObject({
    code: 'authorization-denied',
    headers: [],
  })
})

test('rules that read the body can be asked about other bodies', () => {
  const rules: Rules = [
    ['Deny', 'json(request.body).model == "bad"'],
    [
      'Allow',
      'request.method == "POST" && json(request.body).model.startsWith("g")',
      'json(request.body).model == "bad"',
    ],
  ]
  const { run } = policyOf(rules)
  const ask = (model: string, method = 'POST') =>
    run.allows?.(exchangeWith({ method, body: JSON.stringify({ model }) }))
  expect([ask('gpt'), ask('other'), ask('bad'), ask('gpt', 'GET')]).toEqual([true, false, false, false])
  const { run: byVariable } = policyOf([['Allow', 'llm.clientModel == "gpt"']])
  expect(byVariable.readsRequestBody).toBe(true)
  const allows = (body: string) => byVariable.allows?.(exchangeWith({ method: 'POST', body }))
  expect(['{"model":"gpt"}', '{"model":"bad"}', '{"model":"gpt","model":"bad"}', '{}'].map(allows)).toEqual([
    true,
    false,
    false,
    false,
  ])
  const exceeded = exchangeWith({ method: 'POST', body: '{"model":"gpt"}' })
  exceeded.exceeded = 'steps'
  expect(run.allows?.(exceeded)).toBe(false)
  expect(policyOf([['Allow', 'request.method == "POST"']]).run.allows).toBe(undefined)
})

const ONLY_SEND = ['Allow', 'a2a.method in ["SendMessage", "GetTask"]'] as const
const NO_CANCEL = ['Deny', 'a2a.method == "CancelTask"'] as const
const UNREADABLE = 'a2a-call-unreadable'
const MISUSED = 'method-not-allowed'

test.each<[what: string, inputs: ExchangeInputs, allow: string, deny: string]>([
  ['a call of 0.3', { method: 'POST', body: '{"method":"message/send"}' }, PASS, PASS],
  ['a call of 1.0', { method: 'POST', body: '{"method":"CancelTask"}' }, DENIED, DENIED],
  ['the same in 0.3', { method: 'POST', body: '{"method":"tasks/cancel"}' }, DENIED, DENIED],
  ['the same by path', { method: 'POST', target: '/v1/tasks/1:cancel' }, DENIED, DENIED],
  ['the same by gRPC', { method: 'POST', target: '/lf.a2a.v1.A2AService/CancelTask' }, DENIED, DENIED],
  ['the same by PUT', { method: 'PUT', target: '/v1/tasks/1:cancel' }, MISUSED, MISUSED],
  ['the same in a message by PATCH', { method: 'PATCH', body: '{"method":"CancelTask"}' }, MISUSED, MISUSED],
  ['OPTIONS of its path', { method: 'OPTIONS', target: '/v1/tasks/1:cancel' }, DENIED, PASS],
  ['a task', { target: '/a2a/tasks/1' }, PASS, PASS],
  ['another request', { target: '/docs' }, DENIED, PASS],
  ['a form', { method: 'POST', body: 'a=b', headers: { 'content-type': 'text/plain' } }, DENIED, PASS],
  ['two methods', { method: 'POST', body: '{"method":"SendMessage","method":"CancelTask"}' }, UNREADABLE, UNREADABLE],
  ['a compressed call', { method: 'POST', body: 'x', headers: { 'content-encoding': 'gzip' } }, UNREADABLE, UNREADABLE],
  [
    'a call at the path of the card',
    { method: 'POST', target: '/.well-known/agent-card.json', body: '{"method":"CancelTask"}' },
    UNREADABLE,
    UNREADABLE,
  ],
  [
    'a call at a path of gRPC',
    { method: 'POST', target: '/a2a.v1.A2AService/GetTask', body: '{"method":"CancelTask"}' },
    UNREADABLE,
    UNREADABLE,
  ],
  [
    'two bindings',
    { method: 'POST', target: '/message:send', body: '{"method":"CancelTask"}' },
    UNREADABLE,
    UNREADABLE,
  ],
])('rules on methods of A2A: %s', async (_, inputs, allow, deny) => {
  for (const [rule, outcome] of [
    [ONLY_SEND, allow],
    [NO_CANCEL, deny],
  ] as const) {
    const { run } = policyOf([rule])
    expect(run.readsRequestBody).toBe(true)
    expect(codeOf(await run.request!(exchangeWith(inputs)))).toBe(outcome)
    expect(run.allows!(exchangeWith(inputs))).toBe(outcome === PASS)
  }
})

test('without a rule on methods, a call that cannot be read passes', () => {
  const inputs = { method: 'POST', body: '{"method":"a","method":"b"}' }
  expect(codeOf(policyOf([['Allow', T]]).run.request!(exchangeWith(inputs)))).toBe(PASS)
})

test('lint knows the names of methods', () => {
  const { context } = policyOf([['Deny', 'a2a.method == "tasks/cancel"']])
  expect(context.reports.join()).toContain('policy.matchExpressions[0]')
  expect(policyOf([NO_CANCEL]).context.reports).toEqual([])
})
