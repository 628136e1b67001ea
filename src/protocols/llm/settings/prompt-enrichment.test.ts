import { expect, test } from 'vitest'
import { refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { verifies } from '#test/support/verifies.ts'
import type { PromptEnrichmentSpec, RouteType } from './policy-schema.ts'

const prompt: PromptEnrichmentSpec = {
  prepend: [
    { role: 'SYSTEM', content: 'S1' },
    { role: 'user', content: 'U1' },
  ],
  append: [
    { role: 'assistant', content: 'A2' },
    { role: 'system', content: 'S2' },
  ],
}

function enriched(type: RouteType, spec: PromptEnrichmentSpec = prompt): Setup {
  const provider = type === 'Messages' || type === 'MessagesTokenCount' ? { providerFour: {} } : { providerOne: {} }
  return { provider, ai: { prompt: spec, routes: { '*': type } } }
}

const MODEL = '"model":"m"'
const [S1, U1, A2, S2] = [
  '{"role":"system","content":"S1"}',
  '{"role":"user","content":"U1"}',
  '{"role":"assistant","content":"A2"}',
  '{"role":"system","content":"S2"}',
]
const block = (text: string) => `{"type":"text","text":"${text}"}`

verifies(
  ['backend.ai.prompt/prepend', 'backend.ai.prompt/append'],
  'chat completions: around the messages (B103)',
  () => {
    const given = '{"role":"developer","content":"rules"}, {"content":"q","role":"user"}'
    const [rules, question] = given.split(', ')
    expect(sent(`{${MODEL},"messages":[ ${given} ]}`, enriched('Completions')).text).toBe(
      `{${MODEL},"messages":[ ${S1},${rules}, ${U1},${question},${A2},${S2} ]}`,
    )
    expect(sent(`{"messages":[],${MODEL}}`, enriched('Completions')).text).toBe(
      `{"messages":[${S1},${U1},${A2},${S2}],${MODEL}}`,
    )
    expect(sent(`{"messages":[${S1}],${MODEL}}`, enriched('Completions')).text).toBe(
      `{"messages":[${S1},${S1},${U1},${A2},${S2}],${MODEL}}`,
    )
  },
)

const systems: [given: string, wanted: string][] = [
  ['"system":"sys",', `"system":[${block('S1')},{"type":"text","text":"sys"},${block('S2')}],`],
  ['"system":[{"text":"sys"}],', `"system":[${block('S1')},{"text":"sys"},${block('S2')}],`],
  ['"system":[],', `"system":[${block('S1')},${block('S2')}],`],
]
test('messages: system text goes into `system`', () => {
  for (const type of ['Messages', 'MessagesTokenCount'] as const) {
    for (const [given, wanted] of systems) {
      expect(sent(`{${given}"messages":[{}],${MODEL}}`, enriched(type)).text).toBe(
        `{${wanted}"messages":[${U1},{},${A2}],${MODEL}}`,
      )
    }
  }
  expect(sent(`{"messages":[{}],${MODEL}}`, enriched('Messages')).text).toBe(
    `{"messages":[${U1},{},${A2}],${MODEL},"system":[${block('S1')},${block('S2')}]}`,
  )
})

test('responses: a plain text input becomes a message', () => {
  const given = (input: string) => `{${MODEL}${input}}`
  expect(sent(given(',"input":"q\\n"'), enriched('Responses')).text).toBe(
    given(`,"input":[${S1},${U1},{"role":"user","content":"q\\n"},${A2},${S2}]`),
  )
  expect(sent(given(',"input":[{"type":"x"}]'), enriched('Responses')).text).toBe(
    given(`,"input":[${S1},${U1},{"type":"x"},${A2},${S2}]`),
  )
  expect(sent(given(''), enriched('Responses')).text).toBe(given(`,"input":[${S1},${U1},${A2},${S2}]`))
})

verifies('backend.ai.prompt/route-types', 'embeddings are left alone', () => {
  expect(sent(`{${MODEL},"input":"x"}`, enriched('Embeddings')).text).toBe(`{${MODEL},"input":"x"}`)
})

test('messages: without system text, `system` stays as it is', () => {
  const turns = { append: [{ role: 'assistant', content: 'A2' }] }
  for (const system of ['', '"system":"sys",', '"system":7,']) {
    expect(sent(`{${system}"messages":[],${MODEL}}`, enriched('Messages', turns)).text).toBe(
      `{${system}"messages":[${A2}],${MODEL}}`,
    )
  }
})

test('a request without a place for messages is refused', () => {
  for (const [type, body] of [
    ['Completions', `{${MODEL}}`],
    ['Completions', `{${MODEL},"messages":"x"}`],
    ['Messages', `{${MODEL}}`],
    ['Messages', `{${MODEL},"messages":"x"}`],
    ['Messages', `{${MODEL},"messages":[],"system":7}`],
    ['Responses', `{${MODEL},"input":7}`],
  ] as const) {
    expect(refused(body, enriched(type)).code).toBe('llm-body-invalid')
  }
})

test('together with other changes of the body', () => {
  const setup = { ...enriched('Completions'), provider: { providerOne: { model: 'gpt-x' } } }
  expect(sent('{"messages":[],"max_tokens":5,"stream":true}', setup).text).toBe(
    `{"messages":[${S1},${U1},${A2},${S2}],"max_completion_tokens":5,"stream":true,"model":"gpt-x","stream_options":{"include_usage":true}}`,
  )
})
