import { expect, test } from 'vitest'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { observeResponse } from '#protocols/llm/answer/read-response.ts'
import type { ClientFormat } from '#protocols/llm/settings/route-type.ts'
import { Collector } from '#protocols/llm/testing.ts'
import { sent } from '#test/support/prepare-llm.ts'

// Each event of a provider leaves in the call that brought it, in every pair of dialects.

const data = (event: object) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`)
const event = (type: string, more: object) =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
const frame = (type: string, payload: object) => {
  const headers = [[':message-type', 'event'] as const, [':event-type', type] as const]
  const encoded = encodeHeaders(headers.map(([name, value]) => ({ name, type: 'text', value })))
  return Buffer.from(encodeEvent(encoded, Buffer.from(JSON.stringify(payload))))
}
const chunk = (delta: object) => data({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: null }] })
const call = (given: object) => chunk({ tool_calls: [{ index: 0, ...given }] })
const block = (index: number, content_block: object) => event('content_block_start', { index, content_block })
const delta = (index: number, given: object) => event('content_block_delta', { index, delta: given })
const converse = (contentBlockIndex: number, given: object) =>
  frame('contentBlockDelta', { contentBlockIndex, delta: given })

type Step = readonly [event: Buffer, shows: string]

/** A thought, a text and a call, each in several events; each event, and what a client must see of it at once. */
const STEPS = {
  completions: [
    [chunk({ role: 'assistant', reasoning_content: 'think-1' }), 'think-1'],
    [chunk({ reasoning_content: 'think-2' }), 'think-2'],
    [chunk({ content: 'text-1' }), 'text-1'],
    [chunk({ content: 'text-2' }), 'text-2'],
    [call({ id: 'call-1', type: 'function', function: { name: 'tool-1', arguments: '' } }), 'tool-1'],
    [call({ function: { arguments: '{"part-1":' } }), 'part-1'],
    [call({ function: { arguments: '"part-2"}' } }), 'part-2'],
  ],
  messages: [
    [event('message_start', { message: { id: 'x', model: 'm', usage: { input_tokens: 1 } } }), ''],
    [block(0, { type: 'thinking', thinking: '' }), ''],
    [delta(0, { type: 'thinking_delta', thinking: 'think-1' }), 'think-1'],
    [delta(0, { type: 'thinking_delta', thinking: 'think-2' }), 'think-2'],
    [event('content_block_stop', { index: 0 }), ''],
    [block(1, { type: 'text', text: '' }), ''],
    [delta(1, { type: 'text_delta', text: 'text-1' }), 'text-1'],
    [delta(1, { type: 'text_delta', text: 'text-2' }), 'text-2'],
    [event('content_block_stop', { index: 1 }), ''],
    [block(2, { type: 'tool_use', id: 'call-1', name: 'tool-1', input: {} }), 'tool-1'],
    [delta(2, { type: 'input_json_delta', partial_json: '{"part-1":' }), 'part-1'],
    [delta(2, { type: 'input_json_delta', partial_json: '"part-2"}' }), 'part-2'],
  ],
  converse: [
    [frame('messageStart', { role: 'assistant' }), ''],
    [converse(0, { reasoningContent: { text: 'think-1' } }), 'think-1'],
    [converse(0, { reasoningContent: { text: 'think-2' } }), 'think-2'],
    [frame('contentBlockStop', { contentBlockIndex: 0 }), ''],
    [converse(1, { text: 'text-1' }), 'text-1'],
    [converse(1, { text: 'text-2' }), 'text-2'],
    [frame('contentBlockStop', { contentBlockIndex: 1 }), ''],
    [
      frame('contentBlockStart', {
        ...{ contentBlockIndex: 2, start: { toolUse: { toolUseId: 'call-1', name: 'tool-1' } } },
      }),
      'tool-1',
    ],
    [converse(2, { toolUse: { input: '{"part-1":' } }), 'part-1'],
    [converse(2, { toolUse: { input: '"part-2"}' } }), 'part-2'],
  ],
} as const satisfies Record<string, readonly Step[]>

const PROVIDERS: Readonly<Record<keyof typeof STEPS, object>> = {
  completions: { providerFive: {} },
  messages: { providerFour: {} },
  converse: { providerSeven: {} },
}
const REQUESTS: { readonly [Format in ClientFormat]?: object } = {
  Completions: { messages: [{ role: 'user', content: 'Hi.' }] },
  Messages: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] },
  Responses: { input: 'Hi.' },
}

for (const format of Object.keys(REQUESTS) as ClientFormat[]) {
  test.each(Object.keys(STEPS) as (keyof typeof STEPS)[])(
    `a client of ${format} sees each event of %s at once`,
    (dialect) => {
      const body = JSON.stringify({ model: 'm', stream: true, ...REQUESTS[format] })
      const { response, facts } = sent(body, { provider: PROVIDERS[dialect], ai: { routes: { '*': format } } })
      const exchange = exchangeWith()
      exchange.llm = facts
      exchange.response = Head.response(200)
      const type = dialect === 'converse' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
      exchange.response.set('content-type', type)
      const claim = new BodyClaim(new BodyMemory(2 ** 20))
      const client = new Collector()
      const sink = observeResponse(response, exchange, { claim, decoding: RESPONSE_DECODING })!.into(client)
      for (const [bytes, shows] of STEPS[dialect]) {
        const before = client.text.length
        sink.bytes(bytes, 0, bytes.length)
        expect(client.text.slice(before)).toContain(shows)
      }
      sink.end()
      claim.release()
    },
  )
}
