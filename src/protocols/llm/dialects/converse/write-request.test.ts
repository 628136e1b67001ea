import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { Head } from '#net/http/head.ts'
import type { ClientFormat } from '../../settings/route-type.ts'
import type { TranslatedRequest } from '../../translation/translate-request.ts'
import { translateInSteps } from '../../translation/translate-request.ts'

function translate(format: ClientFormat, request: object): TranslatedRequest {
  const sending = { kind: 'send', dialect: 'converse', path: '/' } as const
  const bytes = new TextEncoder().encode(JSON.stringify({ max_tokens: 9, ...request }))
  const sent = runAtOnce(translateInSteps(format, sending, bytes, Head.request('POST', '/'), undefined))
  if ('kind' in sent) throw new Error(`refused: ${sent.body}`)
  return sent
}

const bodyOf = ({ body }: TranslatedRequest) => JSON.parse(new TextDecoder().decode(body))
const messages = [{ role: 'user', content: 'hi' }]

test.each<[tier: string, written: object | undefined, dropped: readonly string[]]>([
  ['auto', undefined, []],
  ['default', { type: 'default' }, []],
  ['flex', { type: 'flex' }, []],
  ['priority', { type: 'priority' }, []],
  ['reserved', { type: 'reserved' }, []],
  ['scale', undefined, ['service_tier']],
])('the service tier %s becomes %j', (tier, written, dropped) => {
  const sent = translate('Completions', { model: 'amazon.nova-pro-v1:0', messages, service_tier: tier })
  expect([bodyOf(sent).serviceTier, sent.facts.dropped]).toEqual([written, dropped])
})

test.each(['mp3', 'wav', 'flac', 'opus', 'aac', 'ogg', 'm4a', 'webm'])('audio of the format %s passes', (format) => {
  const content = [{ type: 'input_audio', input_audio: { data: 'AAAA', format } }]
  const sent = translate('Completions', { model: 'amazon.nova-pro-v1:0', messages: [{ role: 'user', content }] })
  expect(bodyOf(sent).messages[0].content).toEqual([{ audio: { format, source: { bytes: 'AAAA' } } }])
})

test.each<[model: string, status: string | undefined]>([
  ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'error'],
  ['amazon.nova-pro-v1:0', 'error'],
  ['an-unknown-model', 'error'],
  ['meta.llama3-70b-instruct-v1:0', undefined],
])('%s gets the status %s of a result', (model, status) => {
  const call = { type: 'tool_use', id: 'c', name: 'f', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'c', content: 'no', is_error: true }
  const turns = [
    { role: 'assistant', content: [call] },
    { role: 'user', content: [result] },
  ]
  const sent = bodyOf(translate('Messages', { model, messages: [...messages, ...turns] }))
  expect(sent.messages[2].content[0].toolResult.status).toBe(status)
})
