import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { Head } from '#net/http/head.ts'
import { translateInSteps } from '../translation/translate-request.ts'

test.each([
  ['anthropic.claude-3-haiku-20240307-v1:0', { top_k: 5 }, []],
  ['amazon.nova-pro-v1:0', { inferenceConfig: { topK: 5 } }, []],
  ['meta.llama3-70b-instruct-v1:0', undefined, ['top_k']],
  ['an-unknown-model', undefined, ['top_k']],
])('top_k of %s is %j', (model, fields, dropped) => {
  const request = { model, max_tokens: 9, top_k: 5, messages: [{ role: 'user', content: 'hi' }] }
  const sending = { kind: 'send', dialect: 'converse', path: '/' } as const
  const bytes = new TextEncoder().encode(JSON.stringify(request))
  const sent = runAtOnce(translateInSteps('Completions', sending, bytes, Head.request('POST', '/'), undefined))
  if ('kind' in sent) throw new Error('refused')
  const { additionalModelRequestFields } = JSON.parse(new TextDecoder().decode(sent.body))
  expect([additionalModelRequestFields, sent.facts.dropped]).toEqual([fields, dropped])
})
