import { expect, test } from 'vitest'
import { specFrom } from '#policies/shared/testing.ts'
import { compile, refused } from '#test/support/prepare-llm.ts'
import { promptGuard } from './guard-schema.ts'

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
