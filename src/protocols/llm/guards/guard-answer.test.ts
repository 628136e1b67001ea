import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { translated } from '#test/support/translated-exchange.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import type { AnswerFilter } from '../../backend-protocol.ts'
import { type Answer, Collector, pass } from '../testing.ts'
import type { Guard, RegexGuard, ServiceGuard } from './guard.ts'
import { GuardedAnswer } from './guard-answer.ts'
import { compileRules } from './rules/compile-rules.ts'
import type { ServiceVerdict } from './services/service.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

function guard(spec: Parameters<typeof compileRules>[0]): RegexGuard {
  const rules = compileRules(spec, (path, message) => {
    throw new Error(`${path}: ${message}`)
  })
  const refusal = reject('prompt-guard-rejected', { status: 403, body: 'no' })
  return { phase: 'response', index: 0, kind: 'regex', rules, rejects: false, refusal }
}

const SECRET = guard({ matches: ['secret-[0-9]+'] })
const SERVICE: ServiceGuard = {
  phase: 'response',
  index: 0,
  kind: 'webhook',
  refusal: SECRET.refusal,
  service: {
    kind: 'webhook',
    destination: 'ProxyBackend/default/judge',
    masks: true,
    judge: () => Promise.reject(new Error('no service is asked about an error')),
  },
}

const run = (body: string | Buffer, answer: Answer) =>
  pass(body, { contentType: 'application/json', guards: [SECRET], ...answer })
const json = (body: unknown) => JSON.stringify(body)

test.each<[given: string, read: string]>([
  ['application/json', 'application/json'],
  ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
  ['application/json;charset="UTF-8"', 'application/json;charset="UTF-8"'],
  // Clients that follow it read +AHM- as the letter s.
  ['application/json; charset=utf-7', 'application/json; charset=utf-8'],
  ['application/json ; CharSet = "utf-16le"; x=y', 'application/json; charset=utf-8'],
  ['application/json; charset=utf-8; charset=utf-7', 'application/json; charset=utf-8'],
  ['application/json, text/html; charset=utf-7', 'application/json; charset=utf-8'],
  ["application/json; charset*=us-ascii''utf-7", 'application/json; charset=utf-8'],
])('with content type %j, clients read what the guards have read: %j', (contentType, read) => {
  for (const status of [200, 400]) {
    const { text, exchange } = run(json({ error: { message: 'secret-1' } }), { contentType, status })
    expect(text).toBe(json({ error: { message: '<masked>' } }))
    expect(exchange.response!.joined('content-type')).toBe(read)
  }
  const unguarded = run('{}', { contentType, guards: [] })
  expect(unguarded.exchange.response!.joined('content-type')).toBe(contentType)
})

test.each([
  [200, 'data: {"choices":[{"delta":{"content":"hello"}}]}\n\n', ['hello']],
  [400, 'data: {"error":{"message":"no"}}\n\ndata: {"choices":[{"delta":{"content":"hello"}}]}\n\n', []],
])('of a stream with status %i, completions are kept: %j', (status, body, expected) => {
  const { facts } = run(body, { contentType: 'text/event-stream', status, reads: { completion: true } })
  expect(facts.answer?.completion ?? []).toEqual(expected)
})

test('in a stream as well', () => {
  const contentType = 'text/event-stream; charset=utf-16'
  const { text, exchange } = run('data: {"choices":[{"delta":{"content":"secret-1"}}]}\n\n', { contentType })
  expect(text).toContain('<masked>')
  expect(exchange.response!.joined('content-type')).toBe('text/event-stream; charset=utf-8')
})

test.each<[coding: string, body: Buffer]>([
  ['utf-16le', Buffer.from('{"choices":[]}', 'utf16le')],
  ['utf-16be', Buffer.from('{"choices":[]}', 'utf16le').swap16()],
  ['latin1', Buffer.from('{"choices":[],"id":"caf\u00e9"}', 'latin1')],
])('an answer in %s does not pass, whatever its type says', (charset, body) => {
  for (const contentType of [`application/json; charset=${charset}`, 'application/json', '']) {
    for (const status of [200, 400]) {
      const { text, refusal } = run(body, { contentType, status })
      expect([text, refusal?.code]).toEqual(['', 'llm-response-invalid'])
    }
  }
})

test('a digest of what the provider sent does not pass: masked texts can be few enough to try', () => {
  const digests = { 'content-digest': 'sha-256=:x:', 'repr-digest': 'x', digest: 'x', 'content-md5': 'x', etag: '"x"' }
  const headers = { ...digests, 'x-request-id': 'r' }
  const body = json({ choices: [{ message: { content: 'secret-1' } }] })
  const { exchange, collector } = run(body, { headers, trailers: headers })
  for (const head of [exchange.response!, collector.trailers!]) {
    expect(Object.keys(headers).filter((name) => head.has(name))).toEqual(['x-request-id'])
  }
  expect(run(body, { headers, guards: [] }).exchange.response!.has('content-digest')).toBe(true)
})

const TYPES = ['Completions', 'Messages', 'Responses'] as const
const LISTS = { Completions: 'choices', Messages: 'content', Responses: 'output' } as const

test.each(TYPES)('a whole answer of type %s is one of its API, or an error', (type) => {
  for (const other of TYPES) {
    const body = json({ [LISTS[other]]: [], id: 'x' })
    const { text, refusal } = run(body, { type })
    if (other === type) expect(text).toBe(body)
    else {
      expect(text).toBe('')
      expect(refusal).toMatchObject({
        code: 'llm-response-invalid',
        detail: `the response guards cannot read the response: it is not a response of type ${type}`,
      })
    }
  }
  const error = json({ error: { message: 'overloaded' } })
  expect(run(error, { type }).text).toBe(error)
  expect(run(json({ error: { message: 'about secret-12' } }), { type }).text).toBe(
    json({ error: { message: 'about <masked>' } }),
  )
})

test.each<[what: string, body: string, masked: string]>([
  [
    'its message',
    json({ error: { message: 'a secret-12', code: 'x' } }),
    json({ error: { message: 'a <masked>', code: 'x' } }),
  ],
  ['an escape', '{"error":{"message":"\\u0073ecret-12"}}', json({ error: { message: '<masked>' } })],
  ['JSON after a byte order mark', `\ufeff${json({ detail: 'secret-1' })}`, json({ detail: '<masked>' })],
  ['a repeated input', json({ detail: [{ input: 'secret-1' }] }), json({ detail: [{ input: '<masked>' }] })],
  ['what an answer repeats', json({ instructions: 'secret-1' }), json({ instructions: '<masked>' })],
  ['a list', json(['secret-1']), json(['<masked>'])],
  ['a string', json('secret-1'), json('<masked>')],
  ['a page', '<h1>secret-1 "\u00e9"</h1>', '<h1><masked> "\u00e9"</h1>'],
  ['half of a JSON text', '{"error":"secret-1', '{"error":"<masked>'],
])('patterns mask the error of a provider: %s', (_, body, masked) => {
  for (const type of TYPES) expect(run(body, { type, status: 400 }).text).toBe(masked)
})

test.each([json({ error: { message: 'code: not found', code: 'x' } }), 'Bad Gateway', 'x', '', '\u00e9\u{1f642}'])(
  'an error without a match keeps its bytes: %s',
  (body) => {
    const guards = [guard({ matches: ['^(message|code)$'] })]
    for (const status of [302, 400, 503]) {
      const { text, refusal } = run(body, { status, guards })
      expect(text).toBe(body)
      expect(refusal).toBeUndefined()
    }
  },
)

test.each<[why: string, body: string | Buffer]>([
  ['it is neither JSON nor text in UTF-8', Buffer.from('secret-1', 'utf16le')],
  ['it is neither JSON nor text in UTF-8', Buffer.from('caf\u00e9', 'latin1')],
  ['it has a duplicate key', '{"error":"\\u0073ecret-1","error":1}'],
  ['it has a text that cannot be read', '{"error":"\\ud800"}'],
])('an error that patterns cannot read does not pass: %s', (why, body) => {
  const { text, refusal } = run(body, { status: 400 })
  expect(text).toBe('')
  expect(refusal).toMatchObject({ code: 'llm-response-invalid', status: undefined })
  expect(refusal?.detail).toBe(`the response guards cannot read the response: ${why}`)
})

test('a match in an error that cannot be masked rejects', () => {
  const { text, refusal } = run(json({ detail: { 'secret-1': 'x' } }), { status: 400 })
  expect(text).toBe('')
  expect(refusal).toMatchObject({ status: 403, body: 'no' })
})

test('an error in events is masked event by event', () => {
  const event = (message: string) => `data: ${json({ error: { message } })}\n\n`
  const { text } = run(event('a secret-12') + event('b'), { status: 429, contentType: 'text/event-stream' })
  expect(text).toBe(event('a <masked>') + event('b'))
})

test('an error is decoded first', () => {
  const { text } = run(gzipSync(json({ error: 'secret-1' })), { status: 400, coding: 'gzip' })
  expect(text).toBe(json({ error: '<masked>' }))
  const damaged = run('no gzip', { status: 400, coding: 'gzip' })
  expect(damaged.text).toBe('')
  expect(damaged.refusal).toMatchObject({ code: 'llm-response-invalid' })
})

test('services are not asked about errors', () => {
  const body = json({ error: 'secret-1' })
  const { text, exchange } = run(body, { status: 400, guards: [SERVICE], headers: { etag: '"x"' } })
  expect(text).toBe(body)
  expect(exchange.guardChecks).toBeUndefined()
  expect(exchange.response!.joined('etag')).toBe('"x"')
  expect(run(body, { status: 400, guards: [SERVICE, SECRET] }).text).toBe(json({ error: '<masked>' }))
})

test('304 has no body to decode, and the tag of the body that the client has', () => {
  const { refusal, exchange } = run('', { status: 304, coding: 'gzip', headers: { etag: '"x"' } })
  expect(refusal).toBeUndefined()
  expect(exchange.response!.joined('etag')).toBe('"x"')
})

test('a compressed answer of another API is decoded, translated and checked', () => {
  const ai = { promptGuard: { response: [{ regex: { matches: ['secret-[0-9]+'], action: 'Mask' } }] } } as const
  const content = [{ type: 'text', text: 'secret-1' }]
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content, stop_reason: 'end_turn' }
  const request = { model: 'm', messages: [{ role: 'user', content: 'q' }] }
  const answer = { headers: { 'content-encoding': 'gzip' }, body: gzipSync(json(message)) }
  const { text } = inOneTurn(() => translated(request, { provider: { providerFour: {} }, ai }, answer))
  expect(JSON.parse(text).choices[0].message.content).toBe('<masked>')
})

test('where there is no memory to keep an answer for expressions, it passes all the same', () => {
  const answer = { contentType: 'text/event-stream', reads: { completion: true } }
  const stream = 'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}\n\n'
  for (const guards of [[], [SECRET]]) {
    const kept = (bytes: number) => {
      const { text, facts } = run(stream, { ...answer, guards, claim: roomFor(0, bytes).claim })
      expect(text).toBe(stream)
      return facts.answer?.completion
    }
    expect([kept(1000), kept(66)]).toEqual([['hello'], []])
  }
})

/** What stands before the guards reads and translates the answer. */
function behind(inner: Partial<AnswerFilter> | undefined, guards: readonly Guard[] = [SECRET]) {
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const filter = new GuardedAnswer(inner && { changesLength: true, into: (sink) => sink, ...inner }, {
    guards,
    format: 'Completions',
    isError: false,
    exchange,
    claim: roomFor(0).claim,
    maxBytes: 1_000,
    keep: undefined,
  })
  const collector = new Collector()
  const sink = filter.into(collector)
  const send = (body: string) => {
    const bytes = Buffer.from(body)
    sink.bytes(bytes, 0, bytes.length)
    sink.end()
  }
  return { filter, collector, exchange, send }
}

const refused = (message: string) =>
  reject('llm-response-invalid', { status: 429, body: json({ error: { message } }), detail: message })

test('the refusal of an answer that cannot be translated has no guarded text', () => {
  const { filter, collector, exchange, send } = behind({ refusal: refused('busy, secret-12') })
  send(json({ choices: [] }))
  expect(collector).toMatchObject({ text: '', ended: 1 })
  expect(filter.refusal).toEqual({
    ...refused(''),
    body: json({ error: { message: 'busy, <masked>' } }),
    detail: 'the provider reported an error',
  })
  // Read again, it is not checked again.
  expect(filter.refusal).toBe(filter.refusal)
  expect(exchange.guardChecks).toMatchObject([{ verdict: 'Mask', rule: 'matches[0]', count: 1 }])
})

test.each([refused('busy'), reject('llm-response-invalid', { detail: 'damaged' })])(
  'a refusal without a match stays as it is: %j',
  (refusal) => expect(behind({ refusal }).filter.refusal).toBe(refusal),
)

test('a refusal that patterns cannot mask or read is replaced', () => {
  const named = reject('llm-response-invalid', { status: 429, body: json({ detail: { 'secret-1': 1 } }) })
  expect(behind({ refusal: named }).filter.refusal).toMatchObject({ status: 403, body: 'no' })
  for (const body of ['\0', 'x'.repeat(64 * 1024 + 1)]) {
    const { filter } = behind({ refusal: reject('llm-response-invalid', { status: 429, body }) })
    expect(filter.refusal).toMatchObject({ status: 429, code: 'llm-response-invalid' })
    expect(filter.refusal!.detail).toBe('the guards cannot read the error of the provider')
    expect(JSON.parse(filter.refusal!.body!).error.code).toBe('llm-response-invalid')
  }
})

test('a refusal is checked to its end', () => {
  const many = (last: string) => json([...new Array(200).fill('x'), last])
  const refusal = reject('llm-response-invalid', { body: many('secret-1') })
  expect(behind({ refusal }).filter.refusal!.body).toBe(many('<masked>'))
  const long = reject('llm-response-invalid', { body: 'x'.repeat(64 * 1024) })
  expect(behind({ refusal: long }).filter.refusal).toBe(long)
})

test('what the filter before the guards says is passed on', () => {
  let cancelled = false
  const failure = { detail: 'd', unhealthy: true, status: 500, cut: undefined }
  const { filter } = behind({ failure, whenOver: (cancel) => cancel() })
  filter.whenOver(() => {
    cancelled = true
  })
  expect(cancelled).toBe(true)
  expect(filter.failure).toBe(failure)
  expect(filter).toMatchObject({ whole: true, changesLength: true })
  for (const silent of [{}, undefined]) behind(silent).filter.whenOver(() => {})
})

/** A service that answers later. */
function late(verdict: ServiceVerdict): Guard {
  return { ...SERVICE, service: { ...SERVICE.service, judge: () => Promise.resolve(verdict) } }
}
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
const ANSWER = json({ choices: [{ message: { content: 'hello' } }] })

test.each<[verdict: ServiceVerdict, text: string, refusal: object | undefined]>([
  [{ kind: 'pass' }, ANSWER, undefined],
  [{ kind: 'mask', contents: ['bye'] }, json({ choices: [{ message: { content: 'bye' } }] }), undefined],
  [{ kind: 'reject' }, '', { code: 'prompt-guard-rejected', status: 403, body: 'no' }],
  [{ kind: 'failed', detail: 'timeout' }, '', { code: 'prompt-guard-failed' }],
])('an answer waits for its services: %j', async (verdict, text, refusal) => {
  const { filter, collector, send } = behind({}, [late(verdict)])
  send(ANSWER)
  expect(collector).toMatchObject({ text: '', ended: 0 })
  await turn()
  expect(collector).toMatchObject({ text, ended: 1, calls: text === '' ? 0 : 1 })
  if (refusal === undefined) expect(filter.refusal).toBeUndefined()
  else expect(filter.refusal).toMatchObject(refusal)
})

test('services are asked about answers that are no errors', async () => {
  const { collector } = run(ANSWER, { guards: [late({ kind: 'mask', contents: ['bye'] })] })
  await turn()
  expect(collector.text).toBe(json({ choices: [{ message: { content: 'bye' } }] }))
})

test('an answer over the limit does not pass', () => {
  const { filter, collector, send } = behind({})
  send(json({ choices: [], id: 'x'.repeat(1_000) }))
  expect(collector).toMatchObject({ text: '', ended: 1 })
  expect(filter.refusal!.detail).toBe('the response guards cannot read the response: it is too large')
})

test('an answer over the limit is not read from its later pieces', () => {
  const { filter, collector } = behind({})
  const sink = filter.into(collector)
  for (const piece of ['x'.repeat(1_001), '{"choices":[]}']) sink.bytes(Buffer.from(piece), 0, piece.length)
  sink.end()
  expect(collector.text).toBe('')
})

test('what is not readable in an answer does not pass', () => {
  for (const [body, why] of [
    ['no JSON', 'it is not JSON'],
    ['{"choices":[],"choices":[]}', 'it is not JSON'],
    ['{"choices":["\\udc00"]}', 'it has a text that cannot be read'],
  ] as const) {
    const { filter, collector, send } = behind({})
    send(body)
    expect(collector.text).toBe('')
    expect(filter.refusal).toMatchObject({
      code: 'llm-response-invalid',
      detail: `the response guards cannot read the response: ${why}`,
    })
    expect(JSON.parse(filter.refusal!.body!).error.code).toBe('llm-response-invalid')
  }
})

test('expressions read what the client gets', () => {
  const body = json({ choices: [{ index: 0, message: { role: 'assistant', content: 'a secret-1' } }] })
  const { facts } = run(body, { reads: { completion: true } })
  expect(facts.answer!.completion).toEqual(['a <masked>'])
  expect(run(body, { reads: { completion: true }, status: 400 }).facts.answer!.completion).toEqual([])
})

const REFUSED = undefined

test.each<[given: string, masked: string]>([
  ['{"a":"secret","b":[1', '{"a":"<masked>","b":[1'],
  ['{"a":"s\\u0065cret', '{"a":"s\\u0065cret'],
  ['{"secret":1', '{"<masked>":1'],
  [' ', ' '],
])('arguments that are no JSON are one text: %s', (given, masked) => {
  const body = { choices: [{ message: { tool_calls: [{ function: { name: 'f', arguments: given } }] } }] }
  const { text } = run(json(body), { guards: [guard({ matches: ['secret'] })] })
  expect(JSON.parse(text).choices[0].message.tool_calls[0].function.arguments).toBe(masked)
})

test('each text of an answer is checked alone', () => {
  const parts = ['secr', 'et-1'].map((text) => ({ type: 'text', text }))
  const body = json({ content: parts })
  expect(run(body, { type: 'Messages', guards: [SECRET] }).text).toBe(body)
})

test('log probabilities are removed: they spell out texts that may be masked', () => {
  const chat = (logprobs: unknown) => json({ choices: [{ index: 0, message: { content: 'a' }, logprobs }] })
  expect(run(chat({ content: [{ token: 'a', bytes: [97] }] }), {}).text).toBe(chat(null))
  const response = (logprobs: unknown) =>
    json({ output: [{ content: [{ type: 'output_text', text: 'a', logprobs }] }] })
  expect(run(response([{ token: 'a' }]), { type: 'Responses' }).text).toBe(response([]))
})

test.each<[given: string, masked: string | undefined]>([
  ['{"a":"secret","a" :"é secret", "b\\"":["secret"]}', '{"a":"<masked>","a" :"é <masked>", "b\\"":["<masked>"]}'],
  ['{"a":1,"a":{"secret"\n:2}}', REFUSED],
])('arguments with a name twice: %s', (given, masked) => {
  const body = { choices: [{ message: { tool_calls: [{ function: { name: 'f', arguments: given } }] } }] }
  const { text, refusal } = run(json(body), { guards: [guard({ matches: ['secret'] })] })
  if (masked === REFUSED) {
    expect(refusal?.detail).toBe('promptGuard.response[0]: regex matches[0]: the match is in a text that cannot change')
  } else expect(JSON.parse(text).choices[0].message.tool_calls[0].function.arguments).toBe(masked)
})
