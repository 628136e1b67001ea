import fc from 'fast-check'
import { expect, test } from 'vitest'
import { completionsForms } from '../completions/form-change.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import { encode } from '../json/splice.ts'
import { messagesForms } from '../messages/form-change.ts'
import { responsesForms } from '../responses/form-change.ts'
import { type FormChange, parsedOrNone } from './form-change.ts'
import { collect } from './testing.ts'

const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, custom: { name: 'g', input: 'x' } }
const message = {
  ...{
    role: 'assistant',
    content: 'a',
    refusal: 'r',
    tool_calls: [call],
    function_call: { name: 'f', arguments: '{}' },
  },
  ...{ audio: { data: 'aGk=' }, reasoning: 's' },
}
const item = {
  id: 'i',
  type: 'function_call',
  name: 'f',
  arguments: '{}',
  summary: [{ type: 'summary_text', text: 's' }],
}
const part = { type: 'output_text', text: 'a', annotations: [{}], logprobs: [{}] }
const delta = { content: 'a', role: 'assistant', audio: { data: 'aGk=' }, tool_calls: [{ index: 0, ...call }] }

const FORMS: readonly (readonly [name: string, forms: FormChange, whole: object, events: readonly object[]])[] = [
  [
    'completions',
    completionsForms,
    { id: 'x', choices: [{ index: 0, message, logprobs: { content: [{}] }, finish_reason: 'stop' }], usage: { a: 1 } },
    [
      { id: 'x', choices: [{ index: 0, delta, logprobs: { content: [{}] }, finish_reason: null }] },
      { choices: [{ index: 0, delta, finish_reason: 'stop', own: { a: [1] } }], usage: { a: 1 } },
    ],
  ],
  [
    'messages',
    messagesForms,
    {
      content: [
        { type: 'text', text: 'a', citations: [{}] },
        { type: 'tool_use', input: { a: 1 } },
        { type: 'thinking', thinking: 's' },
      ],
      ...{ stop_reason: 'end_turn', usage: { output_tokens: 1 } },
    },
    [
      { type: 'message_start', message: { id: 'x', usage: { output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '', citations: [] } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ],
  ],
  [
    'responses',
    responsesForms,
    { status: 'completed', output: [item, { id: 'm', type: 'message', content: [part] }], usage: { a: 1 } },
    [
      { type: 'response.created', response: {} },
      { type: 'response.completed', response: { output: [item] } },
    ],
  ],
]

/** The value with one part of it, anywhere, replaced by another. */
function damaged(value: unknown, at: number, by: unknown): unknown {
  let left = at
  const walk = (one: unknown): unknown => {
    if (left-- === 0) return by
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, walk(member)]))
  }
  return walk(value)
}

const damage = fc.tuple(fc.nat(60), fc.jsonValue({ maxDepth: 2 }))

for (const [name, forms, whole, events] of FORMS) {
  test(`${name}: whatever a whole answer has, its events are JSON`, () => {
    fc.assert(
      fc.property(damage, ([at, by]) => {
        const answer = parseDocument(encode(JSON.stringify(damaged(whole, at, by)))) as JsonValue
        if (answer.kind !== 'object' || forms.faultOf(answer) !== undefined) return
        const stream = Buffer.concat(
          [...forms.writeStream(answer, true)].map((piece) => Buffer.from(piece as Uint8Array)),
        )
        for (const line of stream.toString().split('\n')) {
          const data = /^data: (?!\[DONE\])(.*)$/.exec(line)?.[1]
          if (data !== undefined) expect(parseDocument(encode(data)), data).toBeInstanceOf(JsonValue)
        }
      }),
      { numRuns: 400 },
    )
  })

  test(`${name}: whatever the events of a stream have, they are an answer or none`, () => {
    fc.assert(
      fc.property(fc.nat(events.length), damage, (which, [at, by]) => {
        const sent = events.map((event, i) => (i === which ? damaged(event, at, by) : event))
        const stream = sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
        const found = collect(forms, `${stream}data: [DONE]\n\n`, 100_000)
        if (found?.kind === 'whole') expect(parseDocument(found.body)).toBeInstanceOf(JsonValue)
      }),
      { numRuns: 400 },
    )
  })
}

const nested = (depth: number) => `${'['.repeat(depth)}"${']'.repeat(300)}"${']'.repeat(depth)}`
test.each<[what: string, text: string, written: string | undefined]>([
  ['an object', '{"a":1.0,"b":[12345678901234567890]}', '{"a":1.0,"b":[12345678901234567890]}'],
  ['null', 'null', 'null'],
  ['two members of one name, as clients read them', '{"a":1,"a":2}', '{"a":2}'],
  ['256 lists in each other', nested(256), nested(256)],
  ['257 lists in each other', nested(257), undefined],
  ['no JSON', '{', undefined],
  ['nothing', '', undefined],
])('the value of %s', (_, text, written) => {
  const value = parsedOrNone(text)
  expect(value === undefined ? undefined : JSON.stringify(value)).toBe(written)
})
