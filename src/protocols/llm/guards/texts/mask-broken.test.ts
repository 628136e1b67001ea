import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { reject } from '#exchange/outcome.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { pass } from '../../testing.ts'
import { REQUEST_TEXTS } from '../../texts/dialect-texts.ts'
import { documentOf } from '../../texts/testing.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { runGuards } from '../run-guards.ts'
import { GuardedTexts } from './guarded-texts.ts'

const GUARD: RegexGuard = {
  ...{ phase: 'response', index: 0, kind: 'regex', rejects: false, refusal: reject('prompt-guard-rejected') },
  rules: compileRules({ matches: ['one', 'none', 'two', '"[ ]x'], builtins: ['Ssn'] }, () => {}),
}
const JSON_TYPE = 'application/json'
const sse = (data: object) => `data: ${JSON.stringify(data)}\n\n`

interface Given {
  readonly content: string
  readonly called: readonly string[]
}

const callsOf = (called: readonly string[]) =>
  called.map((given, index) => ({ index, id: `c${index}`, function: { name: 'f', arguments: given } }))

/** What the record says of a request with these texts, of an answer, and of one that is streamed. */
function records({ content, called }: Given): readonly unknown[] {
  const message = { role: 'assistant', content, tool_calls: callsOf(called) }
  const request = documentOf({ messages: [message] })
  const texts = runAtOnce(
    GuardedTexts.read(request.json, runAtOnce(REQUEST_TEXTS.Completions(request))),
  ) as GuardedTexts
  const exchange = exchangeWith()
  inOneTurn(() => runGuards([GUARD], { exchange, texts, head: exchange.request }))
  const whole = pass(JSON.stringify({ choices: [{ message }] }), { contentType: JSON_TYPE, guards: [GUARD] })
  const deltas = [{ content }, ...callsOf(called).map((call) => ({ tool_calls: [call] })), {}]
  const streamed = pass(deltas.map((delta) => sse({ choices: [{ index: 0, delta }] })).join(''), { guards: [GUARD] })
  return [exchange, whole.exchange, streamed.exchange].map(({ guardChecks }) => guardChecks![0])
}

test.each<[given: Given, verdict: string, rule: string | undefined, placeholder: string | undefined]>([
  [{ content: 'a', called: ['{"a":"b" c'] }, 'Allow', undefined, undefined],
  [{ content: 'two', called: ['{"a":"b" c'] }, 'Mask', 'matches[2]', '<masked>'],
  [
    { content: 'a', called: ['{"a":"two" 078-05-1120 one'] },
    'Mask',
    'matches[0], matches[2], Ssn',
    '<masked>, <masked>, <SSN>',
  ],
  [
    { content: 'two', called: ['{"a":"b" one', '{"a":"078-05-1120'] },
    'Mask',
    'matches[0], matches[2], Ssn',
    '<masked>, <masked>, <SSN>',
  ],
])('the record names all rules that match in arguments that are no JSON: %j', (given, verdict, rule, placeholder) => {
  for (const record of records(given)) expect(record).toMatchObject({ verdict, rule, placeholder, detail: undefined })
})

test.each<[given: Given, rule: string]>([
  [{ content: 'one', called: ['{"two":"b" c'] }, 'matches[2]'],
  [{ content: 'one', called: ['{"a":"two" x'] }, 'matches[3]'],
  [{ content: 'a', called: ['{"two":1,"one":2 x'] }, 'matches[2]'],
  [{ content: 'one', called: ['{"a":"two" c', '{"a":"b" x'] }, 'matches[3]'],
])('the record names the rule that matches what cannot be masked: %j', (given, rule) => {
  const [, ...answers] = records(given)
  for (const record of answers) expect(record).toMatchObject({ verdict: 'Reject', rule, placeholder: '<masked>' })
  expect(answers[0]).toMatchObject({ detail: 'the match is in arguments that are no JSON' })
})
