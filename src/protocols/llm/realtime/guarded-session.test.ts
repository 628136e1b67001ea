import { expect, test } from 'vitest'
import { writeTextFrame } from '#net/websocket/write-frame.ts'
import { compile, refused } from '#test/support/prepare-llm.ts'
import type { Guard } from '../guards/guard.ts'
import type { ServiceVerdict } from '../guards/services/service.ts'
import type { PromptGuardRequestSpec } from '../settings/guard-schema.ts'
import { asks, open, opened } from './testing.ts'

const MASKS: PromptGuardRequestSpec = { regex: { action: 'Mask', matches: ['k-\\d+'] } }
const REJECTS: PromptGuardRequestSpec = {
  regex: { action: 'Reject', matches: ['forbidden'] },
  response: { message: 'Not that.' },
}

const item = (text: string, more: object = {}) => ({
  type: 'conversation.item.create',
  ...more,
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
})
const update = (instructions: string) => ({ type: 'session.update', session: { type: 'realtime', instructions } })

/** Guards check in slices, so a check may take several turns. */
async function turn(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => setImmediate(resolve))
}

test.each<[name: string, event: object, sent: object]>([
  ['an item', item('k-1 and k-22'), item('<masked> and <masked>')],
  ['instructions', update('the key is k-1'), update('the key is <masked>')],
  [
    'a response',
    { type: 'response.create', response: { instructions: 'k-1' } },
    { type: 'response.create', response: { instructions: '<masked>' } },
  ],
  [
    'sound passes',
    { type: 'input_audio_buffer.append', audio: 'AAAA' },
    { type: 'input_audio_buffer.append', audio: 'AAAA' },
  ],
])('texts are masked: %s', (_, event, sent) => {
  const session = open([MASKS])
  session.says(event)
  expect(session.up).toEqual([JSON.stringify(sent)])
  expect(session.down).toEqual([])
})

test('an event that nothing matches keeps its bytes', () => {
  const session = open([MASKS, REJECTS])
  const frame = writeTextFrame(
    'client',
    Buffer.from('{ "type":"session.update" , "session":{"instructions":"\\u0068i"}}'),
  )
  session.says(frame)
  expect(session.toProvider.text).toBe(frame.toString('latin1'))
})

test('a rejected event does not reach the provider, the client is told, and the session goes on', async () => {
  const session = open([MASKS, REJECTS])
  session.says(item('a forbidden thing', { event_id: 'mine' }))
  session.says(item('forbidden, too'))
  session.says(item('fine'))
  await turn()
  expect(session.up).toEqual([JSON.stringify(item('fine'))])
  const errors = session.down.map((text) => JSON.parse(text))
  const error = { type: 'invalid_request_error', code: 'guardrail_intervention', message: 'Not that.', param: null }
  expect(errors).toEqual([
    { type: 'error', event_id: expect.stringMatching(/^event_.{36}$/), error: { ...error, event_id: 'mine' } },
    { type: 'error', event_id: expect.stringMatching(/^event_.{36}$/), error: { ...error, event_id: null } },
  ])
  expect(session.filter.failure).toBeUndefined()
  expect(session.exchange.guardChecks).toMatchObject([
    { phase: 'request', index: 0, verdict: 'Allow', count: 3 },
    { phase: 'request', index: 1, verdict: 'Reject', count: 2 },
    { phase: 'request', index: 1, verdict: 'Allow', count: 1 },
  ])
  expect(session.exchange.reason).toBe('Guardrail')
})

test('the reason of a session is that of a guard, then that of an event that cannot be checked', async () => {
  const session = open([REJECTS])
  const { reason } = session.exchange
  session.says(item('fine'))
  expect(session.exchange.reason).toBe(reason)
  session.says('no JSON')
  await turn()
  expect(session.exchange.reason).toBe('InvalidRequest')
  session.says(item('forbidden'))
  await turn()
  expect(session.exchange.reason).toBe('Guardrail')
  session.says('no JSON')
  await turn()
  expect(session.exchange.reason).toBe('Guardrail')
})

const binary = Buffer.from([0x82, 0x81, 0, 0, 0, 0, 0x61])
test.each<[name: string, message: string | object | Buffer, error: object]>([
  ['no JSON', '{"type":', { code: 'llm-body-invalid', type: 'invalid_request_error', event_id: null }],
  ['an empty text', '', { code: 'llm-body-invalid' }],
  ['no object', '["k-1"]', { code: 'llm-body-invalid' }],
  ['a key twice', '{"type":"session.update","type":"x"}', { code: 'llm-body-invalid' }],
  ['bytes that are no text', writeTextFrame('client', Buffer.of(0x22, 0xff, 0x22)), { code: 'llm-body-invalid' }],
  ['half a character', '{"event_id":"e","item":{"text":"\\ud800"}}', { code: 'llm-body-invalid', event_id: 'e' }],
  ['a binary message', binary, { code: 'llm-body-invalid', message: 'events are text messages' }],
  [
    'a message over the limit',
    item('x'.repeat(1000)),
    {
      code: 'body-too-large',
      message: 'request body too large: the limit is 1000 bytes (frontend.http.maxBufferSize)',
    },
  ],
  ['an id that is too long', item('forbidden', { event_id: 'x'.repeat(513) }), { event_id: null }],
])('what cannot be checked does not pass: %s', async (_, message, error) => {
  const session = open([REJECTS])
  session.says(message)
  session.says({ type: 'response.create' })
  await turn()
  expect(session.up).toEqual(['{"type":"response.create"}'])
  expect(session.down.map((text) => JSON.parse(text))).toMatchObject([{ type: 'error', error }])
})

test('an error event never cuts a message of the provider, and the next event waits for it', async () => {
  const session = open([REJECTS])
  const delta = writeTextFrame('server', Buffer.from('{"type":"response.output_text.delta"}'))
  session.hears(delta.subarray(0, 10))
  session.says(item('forbidden'))
  session.says(item('fine'))
  await turn()
  expect([session.toClient.text.length, session.up]).toEqual([10, []])
  session.hears(Buffer.concat([delta.subarray(10), delta]))
  await turn()
  expect(session.down.map((text) => JSON.parse(text).type)).toEqual([
    'response.output_text.delta',
    'error',
    'response.output_text.delta',
  ])
  expect(session.up).toEqual([JSON.stringify(item('fine'))])
})

/** A guard whose service answers with these verdicts, in order. */
function service(...verdicts: readonly ServiceVerdict[]) {
  const asked: { contents: string[]; team: string | undefined }[] = []
  const guard: Guard = {
    kind: 'webhook',
    phase: 'request',
    index: 0,
    refusal: opened(asks([REJECTS])).session.guarded!.guards[0]!.refusal,
    service: {
      kind: 'webhook',
      destination: 'ProxyBackend/default/judge',
      masks: true,
      judge: ({ messages, head }) => {
        asked.push({ contents: messages.map(({ content }) => content), team: head.joined('x-team') })
        return Promise.resolve(verdicts[(asked.length - 1) % verdicts.length]!)
      },
    },
  }
  return { guard, asked }
}

test('services are asked about each event, also with the same texts; a failure is told as one', async () => {
  const { guard, asked } = service({ kind: 'pass' }, { kind: 'failed', detail: 'x' }, { kind: 'mask', contents: ['m'] })
  const session = open([MASKS], [guard])
  for (let i = 0; i < 3; i++) session.says(item('same', { event_id: `e${i}` }))
  session.says({ type: 'input_audio_buffer.commit' })
  for (let i = 0; i < 4; i++) await turn()
  expect(asked).toEqual(Array.from({ length: 3 }, () => ({ contents: ['same'], team: 'red' })))
  expect(session.up).toEqual([
    JSON.stringify(item('same', { event_id: 'e0' })),
    JSON.stringify(item('m', { event_id: 'e2' })),
    '{"type":"input_audio_buffer.commit"}',
  ])
  expect(session.down.map((text) => JSON.parse(text).error)).toEqual([
    {
      type: 'server_error',
      code: 'guardrail_intervention',
      message: 'prompt guard failed',
      param: null,
      event_id: 'e1',
    },
  ])
})

test('a client whose frames cannot be read is disconnected', () => {
  const session = open([MASKS])
  session.says(item('one'))
  session.says(
    Buffer.concat([writeTextFrame('server', Buffer.from('plain')), writeTextFrame('client', Buffer.from('{}'))]),
  )
  expect([session.up, session.down, session.toClient.ended]).toEqual([
    [JSON.stringify(item('one'))],
    ['closed: 1002'],
    1,
  ])
  expect(session.filter.failure?.detail).toBe(
    'the session was ended, because the guards cannot read the client: a frame is not masked',
  )
})

test('a session whose provider leaves no place for an error event ends', () => {
  const session = open([REJECTS])
  session.hears(Buffer.of(0xc1, 0))
  session.says(item('fine'))
  expect(session.toClient.ended).toBe(0)
  session.says(item('forbidden'))
  expect([session.up.length, session.toClient.ended]).toEqual([1, 1])
  expect(session.filter.failure?.detail).toContain('leave no place for an error event')
})

test('guards that cannot run refuse the session; without request guards nothing is read', () => {
  const broken = asks([{ regex: { action: 'Mask', matches: ['('] } }])
  const detail = expect.stringMatching(/^promptGuard\.request\[0\] cannot run: .*RE2/)
  expect(refused(undefined, broken)).toMatchObject({ code: 'prompt-guard-failed', detail })
  expect(opened({ ...asks([]), ai: { routes: { '*': 'Realtime' } } }).session.guarded).toBeUndefined()
  const response = [{ regex: { matches: ['x'] } }] as never
  expect(opened(asks([], { promptGuard: { response } })).session.guarded).toBeUndefined()
})

test('guards on answers beside sessions are reported', () => {
  const regex = { action: 'Mask' as const, matches: ['x'] }
  const routes = { '/realtime': 'Realtime' as const, '/chat/completions': 'Completions' as const }
  const provider = { provider: { providerOne: {} } }
  const messages = (promptGuard: object) => compile(provider, { ai: { routes, promptGuard } }).messages
  expect(messages({ request: [{ regex }] })).toEqual([])
  expect(messages({ request: [{ regex }], response: [{ regex }] })).toEqual([
    '.routes["/realtime"] answers in sessions of type Realtime are not guarded; only promptGuard.request applies',
  ])
})

test.each<[name: string, says: readonly object[]]>([
  ['two items', [item('forb'), item('idden')]],
  ['settings', [update('forb'), update('idden')]],
])('each event is checked alone, so a match over two is not seen: %s', async (_, says) => {
  const session = open([MASKS, REJECTS])
  for (const one of says) session.says(one)
  await turn()
  expect(session.up).toEqual(says.map((one) => JSON.stringify(one)))
})

test('what cannot be read of the provider is told as well', () => {
  const session = open([MASKS])
  session.hears(Buffer.of(0xc1, 0))
  expect(session.filter.failure?.detail).toContain('not all of the session was read')
})
