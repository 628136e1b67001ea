import { expect, test } from 'vitest'
import type { RouteType } from '../settings/policy-schema.ts'
import { pass } from '../testing.ts'

const event = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const chunk = (finish: string | null, index = 0) =>
  event({ id: 'chatcmpl-1', choices: [{ index, delta: { content: 'x' }, finish_reason: finish }] })

const cases: [type: RouteType, body: string, id: string | undefined, reasons: string[]][] = [
  [
    'Completions',
    '{"id":"chatcmpl-1","choices":[{"message":{"content":"finish_reason","tool_calls":[{"id":"no"}]},"finish_reason":"stop"},{"finish_reason":"length"}]}',
    'chatcmpl-1',
    ['stop', 'length'],
  ],
  ['Completions', '{"id":4,"choices":[{"finish_reason":null},{"message":{"finish_reason":"no"}}]}', undefined, []],
  ['Messages', '{"id":"msg_1","content":[{"id":"no"}],"stop_reason":"tool_use"}', 'msg_1', ['tool_use']],
  ['Responses', '{"id":"resp_1","status":"completed","incomplete_details":null}', 'resp_1', ['completed']],
  [
    'Responses',
    '{"incomplete_details":{"reason":"max_output_tokens"},"id":"resp_1","status":"incomplete"}',
    'resp_1',
    ['max_output_tokens'],
  ],
  ['Responses', '{"id":"resp_1","status":"queued"}', 'resp_1', []],
  ['Embeddings', '{"id":"e-1","data":[]}', 'e-1', []],
]
for (const [type, body, id, reasons] of cases) {
  test(`${type} ${body}`, () => {
    const json = { type, contentType: 'application/json' }
    for (let cut = 1; cut < body.length; cut++) {
      expect(pass(body, { ...json, cuts: [cut] }).facts).toMatchObject({ responseId: id, finishReasons: reasons })
    }
    expect(pass(body, { ...json, reads: { completion: true } }).facts.finishReasons).toEqual(reasons)
  })
}

const streams: [type: RouteType, body: string, id: string, reasons: string[]][] = [
  [
    'Completions',
    chunk(null) + chunk('stop') + chunk(null, 1) + chunk('length', 1) + event('[DONE]'),
    'chatcmpl-1',
    ['stop', 'length'],
  ],
  [
    'Messages',
    event({ type: 'message_start', message: { id: 'msg_1', stop_reason: null } }) +
      event({ type: 'content_block_delta', delta: { text: 'x' } }) +
      event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }) +
      event({ type: 'message_stop' }),
    'msg_1',
    ['end_turn'],
  ],
  [
    'Responses',
    event({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } }) +
      event({
        type: 'response.incomplete',
        response: { id: 'resp_1', status: 'incomplete', incomplete_details: { reason: 'content_filter' }, usage: {} },
      }),
    'resp_1',
    ['content_filter'],
  ],
  [
    'Responses',
    event({ type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } }) +
      // Too long to be parsed.
      event({
        type: 'response.completed',
        response: { id: 'resp_1', output: 'x'.repeat(3_000_000), status: 'completed', usage: { input_tokens: 1 } },
      }),
    'resp_1',
    ['completed'],
  ],
]
test.each(streams)('a stream of %s', (type, body, id, reasons) => {
  expect(pass(body, { type }).facts).toMatchObject({ responseId: id, finishReasons: reasons })
})

test('a provider cannot fill the log with reasons', () => {
  const choices = Array.from({ length: 500 }, () => ({ finish_reason: 'stop' }))
  const { facts } = pass(JSON.stringify({ choices }), { type: 'Completions', contentType: 'application/json' })
  expect(facts.finishReasons).toHaveLength(128)
})
