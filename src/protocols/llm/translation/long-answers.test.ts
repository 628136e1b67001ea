import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { RESPONSE_DECODING } from '#net/body/response-decoding.ts'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { sent } from '#test/support/prepare-llm.ts'
import { observeResponse } from '../answer/read-response.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { Collector } from '../testing.ts'

const COUNT = 2500
const many = <Item>(make: (index: number) => Item): Item[] => Array.from({ length: COUNT }, (_, i) => make(i))
const usage = { input_tokens: 1, output_tokens: 2 }

// Each step of the work takes half a millisecond.
const { monotonic } = clock
beforeEach(() => {
  let now = 0
  clock.monotonic = () => {
    now += 0.5
    return now
  }
})
afterEach(async () => {
  clock.monotonic = monotonic
  // The next test begins with a turn of which nothing is used.
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
})

/** Whole answers with as many calls. */
const ANSWERS = {
  completions: {
    choices: [
      {
        finish_reason: 'tool_calls',
        message: {
          content: null,
          tool_calls: many((i) => ({
            id: `c${i}`,
            type: 'function',
            function: { name: 'f', arguments: `{"n":${i}}` },
          })),
        },
      },
    ],
  },
  messages: {
    ...{ id: 'x', model: 'm', stop_reason: 'tool_use', usage },
    content: many((i) => ({ type: 'tool_use', id: `c${i}`, name: 'f', input: { n: i } })),
  },
  converse: {
    ...{ stopReason: 'tool_use', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
    output: { message: { content: many((i) => ({ toolUse: { toolUseId: `c${i}`, name: 'f', input: { n: i } } })) } },
  },
}
const PROVIDERS = { completions: { providerFive: {} }, messages: { providerFour: {} }, converse: { providerSeven: {} } }

async function answered(dialect: keyof typeof ANSWERS, format: ClientFormat, stream: boolean, answer: object) {
  const ask = { model: 'm', stream, max_tokens: 5, messages: [{ role: 'user', content: 'Hi.' }], input: 'Hi.' }
  const setup = { provider: PROVIDERS[dialect], ai: { routes: { '*': format } } }
  const { response, facts } = sent(JSON.stringify(ask), setup)
  const exchange = exchangeWith()
  exchange.llm = facts
  exchange.response = Head.response(200)
  exchange.response.set('content-type', 'application/json')
  const claim = new BodyClaim(new BodyMemory(2 ** 26))
  const client = new Collector()
  const filter = observeResponse({ ...response, maxBytes: 2 ** 22 }, exchange, { claim, decoding: RESPONSE_DECODING })!
  const sink = filter.into(client)
  const bytes = Buffer.from(JSON.stringify(answer))
  sink.bytes(bytes, 0, bytes.length)
  sink.end()
  let turns = 0
  for (; client.ended === 0 && turns < 10_000; turns++) await new Promise((resolve) => setImmediate(resolve))
  claim.release()
  return { turns, text: client.text, ended: client.ended, refusal: filter.refusal }
}

test.each<[dialect: keyof typeof ANSWERS, format: ClientFormat, stream: boolean]>([
  ['completions', 'Messages', false],
  ['completions', 'Responses', true],
  ['messages', 'Completions', true],
  ['messages', 'Responses', false],
  ['converse', 'Completions', false],
  ['converse', 'Messages', true],
])(
  'a long answer of %s is translated for a client of %s (streamed: %j) between other work',
  async (dialect, format, stream) => {
    const { turns, text, ended } = await answered(dialect, format, stream, ANSWERS[dialect])
    expect(ended).toBe(1)
    expect(turns).toBeGreaterThan(2)
    const named = format === 'Responses' ? '"call_id":"c2499"' : '"id":"c2499"'
    expect(text).toContain(named)
    expect(text.split('c1200').length).toBeGreaterThan(1)
  },
)

test('a fault at the end of a long answer refuses all of it', async () => {
  const content = [...ANSWERS.messages.content, 'x']
  const { turns, refusal } = await answered('messages', 'Completions', false, { ...ANSWERS.messages, content })
  expect(turns).toBeGreaterThan(2)
  expect([refusal?.status, refusal?.detail]).toEqual([502, 'content[2500]: must be an object'])
})
