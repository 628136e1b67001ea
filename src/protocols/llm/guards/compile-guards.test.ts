import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { CallFault } from '#policies/policy.ts'
import { sourceOf, specFrom, TestContext } from '#policies/shared/testing.ts'
import { compile, refused } from '#test/support/prepare-llm.ts'
import { promptGuard } from '../settings/guard-schema.ts'
import { compileGuards } from './compile-guards.ts'
import { around, fakeCall, question } from './services/testing.ts'

const one = (spec: object) => ({
  guardrailsServiceOne: { identifier: 'abc1', version: 'DRAFT', region: 'us-east-1', ...spec },
})
const two = (spec: object) => ({ guardrailsServiceTwo: { templateId: 't-1', projectId: 'my-project', ...spec } })
const ARN = 'arn:aws:bedrock:us-east-1:123456789012:guardrail/abc1'
const auth = { key: 'k' }

const guards = (spec: object) => specFrom(promptGuard, spec)
const problemsOf = (spec: object) =>
  compile({ provider: { providerOne: {} } }, { ai: { promptGuard: guards(spec) } }).problems

test.each<[guard: object, problems: string[]]>([
  [one({}), []],
  [one({ version: '12345678' }), []],
  [one({ identifier: ARN }), []],
  [one({ identifier: ARN.replace('arn:aws:', 'arn:aws-us-gov:') }), []],
  [
    one({ identifier: ARN.replace('us-east-1', 'eu-west-1') }),
    ['.guardrailsServiceOne.identifier: invalid-identifier'],
  ],
  [one({ identifier: 'my guardrail' }), ['.guardrailsServiceOne.identifier: invalid-identifier']],
  [one({ identifier: '../other' }), ['.guardrailsServiceOne.identifier: invalid-identifier']],
  [one({ identifier: 'arn:aws:s3:::bucket' }), ['.guardrailsServiceOne.identifier: invalid-identifier']],
  [one({ version: '0' }), ['.guardrailsServiceOne.version: invalid-identifier']],
  [one({ version: 'draft' }), ['.guardrailsServiceOne.version: invalid-identifier']],
  [two({}), []],
  [two({ projectId: 'example.com:p1' }), []],
  [two({ projectId: '..' }), ['.guardrailsServiceTwo.projectId: invalid-identifier']],
  [two({ templateId: 'a/b' }), ['.guardrailsServiceTwo.templateId: invalid-identifier']],
  [{ moderationEndpoint: { policies: { auth } } }, []],
  [{ moderationEndpoint: {} }, ['.moderationEndpoint: guard-not-runnable']],
  [
    { moderationEndpoint: { policies: { http: { requestTimeout: '1s' } } } },
    ['.moderationEndpoint: guard-not-runnable'],
  ],
])('%j', (guard, problems) => {
  expect(problemsOf({ request: [guard] })).toEqual(problems.map((problem) => `.promptGuard.request[0]${problem}`))
})

test('problems are told for the guard that has them, in both directions', () => {
  const bad = one({ version: '0' })
  expect(problemsOf({ request: [two({}), bad], response: [bad, two({})] })).toEqual([
    '.promptGuard.request[1].guardrailsServiceOne.version: invalid-identifier',
    '.promptGuard.response[0].guardrailsServiceOne.version: invalid-identifier',
  ])
})

test('a guard without its key refuses every request', () => {
  const ai = { promptGuard: guards({ request: [{ moderationEndpoint: {} }] }) }
  expect(refused('{"model":"m","messages":[]}', { ai })).toMatchObject({ code: 'prompt-guard-failed' })
})

test.each([
  ['guardrailsServiceOne', one({ region: 'us-east-1.evil.example/' }), 'region'],
  ['guardrailsServiceOne', one({ region: '' }), 'region'],
  ['guardrailsServiceTwo', two({ location: 'us/central1' }), 'location'],
  ['guardrailsServiceTwo', two({ location: 'us.central1' }), 'location'],
])('%s: %j is invalid', (kind, guard, field) => {
  expect(() => guards({ request: [guard] })).toThrow(`request[0].${kind}.${field}`)
})

const judge = { group: 'gatewright.dev', kind: 'ProxyBackend', name: 'judge' }
const compiled = (spec: object) =>
  compile({ provider: { providerOne: {} } }, { ai: { promptGuard: guards(spec) } }).plan.providers[0]!.settings.guards!

test('guards are in the order of the list, with their services', () => {
  const { request, response, closed } = compiled({
    request: [
      { regex: { matches: ['a', 'b'], action: 'Reject' } },
      { webhook: { backendRef: judge } },
      { moderationEndpoint: { policies: { auth } } },
      one({}),
      two({}),
    ],
    response: [
      { webhook: { backendRef: judge }, response: { statusCode: 418, message: 'mine' } },
      { regex: { builtins: ['Ssn'] } },
    ],
  })
  expect(closed).toBe(false)
  const shown = [...request, ...response].map((guard) => [
    `${guard.phase} ${guard.index} ${guard.kind}`,
    guard.kind === 'regex' ? guard.rules.map(({ label }) => label).join() : guard.service.destination,
    guard.refusal.status,
    guard.kind !== 'regex' && guard.service.masks,
  ])
  const own = 'ProxyBackend/default/ProxyPolicy:test:'
  expect(shown).toEqual([
    ['request 0 regex', 'matches[0],matches[1]', 403, false],
    ['request 1 webhook', 'ProxyBackend/default/judge', 403, true],
    ['request 2 moderationEndpoint', `${own}.promptGuard.request[2].moderationEndpoint`, 403, false],
    ['request 3 guardrailsServiceOne', `${own}.promptGuard.request[3].guardrailsServiceOne`, 403, true],
    ['request 4 guardrailsServiceTwo', `${own}.promptGuard.request[4].guardrailsServiceTwo`, 403, false],
    ['response 0 webhook', 'ProxyBackend/default/judge', 418, true],
    ['response 1 regex', 'Ssn', 403, false],
  ])
  expect(request[0]).toMatchObject({ rejects: true })
  expect([request[0], response[0], response[1]].map((guard) => guard!.refusal.body)).toEqual([
    'The request was rejected due to inappropriate content',
    'mine',
    'The response was rejected due to inappropriate content',
  ])
})

test('a pattern for responses masks, whatever its action, and Reject is reported', () => {
  const spec = {
    response: [{ regex: { matches: ['a'], action: 'Reject' } }, { regex: { matches: ['a'], action: 'Mask' } }],
  }
  expect(compiled(spec).response).toMatchObject([{ rejects: false }, { rejects: false }])
  expect(problemsOf(spec)).toEqual(['.promptGuard.response[0].regex.action: no-effect'])
  expect(problemsOf({ request: [{ regex: { matches: ['a'], action: 'Reject' } }] })).toEqual([])
})

test('a webhook gets the headers that match, by name in any letter case', async () => {
  const forwardHeaderMatches = [
    { type: 'Exact', name: 'X-Team', value: 'blue.+' },
    { type: 'RegularExpression', name: 'X-Trace', value: 'a.*' },
  ]
  const { request } = compiled({ request: [{ webhook: { backendRef: judge, forwardHeaderMatches } }] })
  const guard = request[0]!
  if (guard.kind === 'regex') throw new Error('no service')
  const { call, asked } = fakeCall(() => ({ body: { action: {} } }))
  const headersFor = async (team: string, trace: string) => {
    const head = Head.request('POST', '/')
    head.set('x-team', team)
    head.set('x-trace', trace)
    expect(await guard.service.judge(question(['hi'], 'request', head), around(call))).toMatchObject({ kind: 'pass' })
    const { headers } = asked.at(-1)!
    return [headers['x-team'], headers['x-trace']]
  }
  expect(await headersFor('blue.+', 'abc')).toEqual(['blue.+', 'abc'])
  expect(await headersFor('bluer', 'ba')).toEqual([undefined, undefined])
})

test('a webhook that must not be asked closes the route', () => {
  class Closed extends TestContext {
    override calledBackend(): undefined {
      return undefined
    }
  }
  const context = new Closed({})
  const spec = { promptGuard: guards({ request: [{ webhook: { backendRef: judge } }] }) }
  expect(compileGuards(sourceOf(spec), context)).toMatchObject({
    closed: {
      decidedBy: { sources: [{ path: `${sourceOf(spec).path}.promptGuard.request[0].webhook.backendRef` }] },
      detail: 'promptGuard.request[0] cannot run: the reference is not permitted',
    },
    request: [],
  })
  expect(context.problems).toMatchObject([
    {
      path: expect.stringMatching(/\.promptGuard\.request\[0\]\.webhook\.backendRef$/),
      code: 'guard-not-runnable',
      severity: 'error',
      message: 'the reference is not permitted; every request is refused',
    },
  ])
})

test.each(['request', 'response'])('a %s guard whose service cannot be asked closes the route', (phase) => {
  const path = `${sourceOf({}).path}.promptGuard`
  const compileWith = (fault: CallFault, guard: object, backend: string) => {
    const context = new TestContext({ callFaults: { [backend]: fault } })
    const spec = { promptGuard: guards({ [phase]: [{ regex: { matches: ['a'] } }, guard] }) }
    const { closed, request, response } = compileGuards(sourceOf(spec), context)!
    const at = `${path}.${phase}[1].${Object.keys(guard)[0]}`
    expect(closed).toMatchObject({ decidedBy: { field: 'ai.promptGuard', sources: [{ path: at }] } })
    expect(closed).toMatchObject({
      detail: `promptGuard.${phase}[1] cannot run: the service cannot be asked: ${fault.detail}`,
    })
    expect([...request, ...response].map(({ kind }) => kind)).toEqual(['regex'])
    return context.problems.map(({ path: at, code, message }) => [at.slice(path.length), code, message])
  }
  const byWebhook = { webhook: { backendRef: judge } }
  const backend = 'ProxyBackend/default/judge'
  const reported = { detail: 'it is broken', isReported: true }
  expect(compileWith(reported, byWebhook, backend)).toEqual([])
  expect(compileWith({ ...reported, isReported: false }, byWebhook, backend)).toEqual([
    [
      `.${phase}[1].webhook`,
      'guard-not-runnable',
      'the service cannot be asked: it is broken; every request is refused',
    ],
  ])
  const own = `ProxyBackend/default/ProxyPolicy:test:${path}.${phase}[1].guardrailsServiceTwo`
  expect(compileWith(reported, two({}), own)).toEqual([])
})

test.each([
  ['\bproject\b', ['.matches[0]: no-effect, has the control character U+0008']],
  ['/AKIA[0-9A-Z]{16}/i', ['.matches[0]: no-effect, has slashes and flags around it']],
  ['\\bproject\\b', []],
  ['/etc/passwd', []],
  ['a\t\n', []],
])('a pattern that probably finds nothing is reported: %j', (pattern, problems) => {
  const context = new TestContext({})
  const spec = guards({ request: [{ regex: { action: 'Reject', matches: [pattern] } }] })
  compileGuards(sourceOf({ promptGuard: spec }), context)
  expect(
    context.problems.map(({ path, code, message }) => `${path.slice(-11)}: ${code}, ${message.split(/,/)[0]}`),
  ).toMatchObject(problems.map((problem) => expect.stringContaining(problem)))
})

test('what a guard can run with is a warning', () => {
  const context = new TestContext({})
  const spec = guards({
    request: [two({ templateId: 'a/b' }), one({ version: '0' }), one({ region: 'mars' })],
    response: [{ regex: { matches: ['a'], action: 'Reject' } }],
  })
  compileGuards(sourceOf({ promptGuard: spec }), context)
  expect(context.problems.map(({ code, severity }) => `${code}: ${severity}`)).toEqual([
    'invalid-identifier: warning',
    'invalid-identifier: warning',
    'invalid-region: warning',
    'no-effect: warning',
  ])
})

test.each(['us-east-1', 'us-gov-west-1', 'us-isob-east-1', 'ap-southeast-7', 'eusc-de-east-1'])(
  '%s is a region',
  (region) => {
    const context = new TestContext({})
    compileGuards(sourceOf({ promptGuard: guards({ request: [one({ region })] }) }), context)
    expect(context.problems).toEqual([])
  },
)

test('a guardrail in another region is named with both regions', () => {
  const identifier = ARN.replace('us-east-1', 'eu-west-1')
  const ai = { promptGuard: guards({ request: [one({ identifier })] }) }
  expect(compile({ provider: { providerOne: {} } }, { ai }).messages).toEqual([
    '.promptGuard.request[0].guardrailsServiceOne.identifier is a guardrail in eu-west-1, which the service in us-east-1 does not have',
  ])
})

test('a guard without its key says what is missing', () => {
  const { messages } = compile(
    { provider: { providerOne: {} } },
    { ai: { promptGuard: guards({ request: [{ moderationEndpoint: {} }] }) } },
  )
  expect(messages).toEqual([
    '.promptGuard.request[0].moderationEndpoint moderationEndpoint (OpenAI moderation) refuses requests without a key; set policies.auth; every request is refused',
  ])
})
