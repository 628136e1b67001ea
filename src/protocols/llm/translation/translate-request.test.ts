import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { WireDialect } from '../chat/dialect.ts'
import { runForBody } from '../json/run-for-body.ts'
import { encode } from '../json/splice.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { type TranslatedRequest, translateInSteps } from './translate-request.ts'

const parameters = { type: 'object', properties: { place: { type: 'string' } } }

/** A chat with so many tools, for a provider of messages. */
function translate(count: number, more: object = {}) {
  const tools = Array.from({ length: count }, (_, i) => ({ type: 'function', function: { name: `t${i}`, parameters } }))
  const body = encode(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools, ...more }))
  const sending = { kind: 'send', dialect: 'messages', path: '/' } as const
  return runForBody(body, translateInSteps('Completions', sending, body, Head.request('POST', '/'), undefined))
}

test('a short body is translated at once', () => {
  expect(translate(10)).toMatchObject({ facts: { from: 'completions', to: 'messages' } })
})

test('while a long body is translated, the event loop runs other work', async () => {
  const translated = translate(10_000)
  expect(translated).toBeInstanceOf(Promise)
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const { body } = (await translated) as TranslatedRequest
  isOver = true
  expect(turns).toBeGreaterThan(4)
  expect(JSON.parse(Buffer.from(body).toString()).tools).toHaveLength(10_000)
})

test('a long body that cannot be translated is refused with the place', async () => {
  expect(await translate(5000, { n: 2, tools: [{ type: 'code_interpreter' }] })).toMatchObject({
    kind: 'refusal',
    code: 'llm-body-invalid',
    detail: expect.stringContaining('tools[0]: ') as string,
  })
})

test.each<[client: ClientFormat, dialect: WireDialect, request: (parts: object[]) => object]>([
  ['Completions', 'messages', (content) => ({ messages: [{ role: 'user', content }] })],
  ['Messages', 'completions', (content) => ({ max_tokens: 1, messages: [{ role: 'user', content }] })],
  ['Responses', 'converse', (content) => ({ input: [{ role: 'user', content }] })],
])('a request of %s with 100,000 parts is translated to %s', async (client, dialect, request) => {
  const part = { type: client === 'Responses' ? 'input_text' : 'text', text: 'a' }
  const body = encode(JSON.stringify({ model: 'm', ...request(Array.from({ length: 100_000 }, () => part)) }))
  const sending = { kind: 'send', dialect, path: '/' } as const
  const translated = await runForBody(
    body,
    translateInSteps(client, sending, body, Head.request('POST', '/'), undefined),
  )
  const text = Buffer.from((translated as TranslatedRequest).body).toString()
  expect(JSON.parse(text).messages).toHaveLength(1)
  expect(JSON.parse(text).messages[0].content).toHaveLength(100_000)
})
