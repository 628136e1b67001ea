import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { Head } from '#net/http/head.ts'
import type { ClientFormat } from '../../settings/route-type.ts'
import { translateInSteps } from '../../translation/translate-request.ts'

interface Sent {
  readonly fields: unknown
  readonly dropped: readonly string[]
}

function send(format: ClientFormat, request: object): Sent {
  const sending = { kind: 'send', dialect: 'converse', path: '/' } as const
  const bytes = new TextEncoder().encode(
    JSON.stringify({ max_tokens: 2000, messages: [{ role: 'user', content: 'hi' }], ...request }),
  )
  const sent = runAtOnce(translateInSteps(format, sending, bytes, Head.request('POST', '/'), undefined))
  if ('kind' in sent) throw new Error('refused')
  const { additionalModelRequestFields } = JSON.parse(new TextDecoder().decode(sent.body))
  return { fields: additionalModelRequestFields, dropped: sent.facts.dropped }
}

test.each([
  ['anthropic.claude-3-haiku-20240307-v1:0', { top_k: 5 }, []],
  ['amazon.nova-pro-v1:0', { inferenceConfig: { topK: 5 } }, []],
  ['meta.llama3-70b-instruct-v1:0', undefined, ['top_k']],
  ['an-unknown-model', undefined, ['top_k']],
])('top_k of %s is %j', (model, fields, dropped) => {
  expect(send('Completions', { model, top_k: 5 })).toMatchObject({ fields, dropped })
})

/** Nobody knows its model. */
const PROFILE = 'arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/abc'

test.each<[thinking: object, fields: unknown]>([
  [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, { thinking: { type: 'enabled', budget_tokens: 1024 } }],
  [{ thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }],
  [
    { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
  ],
  [{ output_config: { effort: 'low' } }, undefined],
])('a model of an own profile gets %j as %j', (thinking, fields) => {
  expect(send('Messages', { model: PROFILE, ...thinking }).fields).toEqual(fields)
})

test('thinking without a measure is of the usual effort', () => {
  const { fields } = send('Messages', { model: 'amazon.nova-2-lite-v1:0', thinking: { type: 'adaptive' } })
  expect(fields).toEqual({ reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } })
})
