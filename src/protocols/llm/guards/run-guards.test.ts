import { afterEach, beforeEach, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { runAtOnce } from '#base/in-slices.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { FORMATS } from '../dialects/index.ts'
import { JsonValue, parseDocument } from '../json/json-document.ts'
import type { Guard, RegexGuard, ServiceGuard } from './guard.ts'
import { compileRules } from './rules/compile-rules.ts'
import { runGuards } from './run-guards.ts'
import type { ServiceVerdict } from './services/service.ts'
import { GuardedTexts } from './texts/guarded-texts.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

const PASS: ServiceVerdict = { kind: 'pass' }
const REJECT: ServiceVerdict = { kind: 'reject' }

function bodyWith(...contents: readonly string[]) {
  return bodyOf({ messages: contents.map((content) => ({ role: 'user', content })) })
}

function bodyOf(json: object) {
  const bytes = new TextEncoder().encode(JSON.stringify(json))
  const document = parseDocument(bytes)
  if (!(document instanceof JsonValue)) throw new Error('no JSON')
  const texts = runAtOnce(GuardedTexts.read(bytes, runAtOnce(FORMATS.Completions.readRequestTexts(document))))
  if ('unreadable' in texts) throw new Error(texts.unreadable)
  const exchange = exchangeWith()
  return {
    exchange,
    guarded: { exchange, texts, head: exchange.request },
    contents: () => texts.runs.flatMap((run) => run.texts.map(({ text }) => text)),
  }
}

function regex(pattern: string, rejects = false): RegexGuard {
  const rules = compileRules({ matches: [pattern] }, (path, message) => {
    throw new Error(`${path}: ${message}`)
  })
  return { phase: 'request', index: 0, kind: 'regex', rules, rejects, refusal: reject('prompt-guard-rejected') }
}

/** Services that note when they are asked; each takes this long. */
function services(log: string[]) {
  return (name: string, verdict: ServiceVerdict, takesMs = 10, masks = false): ServiceGuard => ({
    kind: 'webhook',
    phase: 'request',
    index: 0,
    refusal: reject('prompt-guard-rejected', { detail: name }),
    service: {
      kind: 'webhook',
      destination: 'ProxyBackend/default/judge',
      masks,
      judge({ messages }) {
        log.push(`${name}: ${messages.map(({ content }) => content).join('|')}`)
        return new Promise((resolve) =>
          clock.after(takesMs, () => {
            log.push(`${name} ${verdict.kind}`)
            resolve(verdict)
          }),
        )
      },
    },
  })
}

async function run(guards: readonly Guard[], body = bodyWith('text')): Promise<Refusal | undefined> {
  const outcome = Promise.resolve(runGuards(numbered(guards), body.guarded))
  await time.pass(60_000)
  return await outcome
}

const numbered = (guards: readonly Guard[]): readonly Guard[] => guards.map((guard, index) => ({ ...guard, index }))

test('patterns answer at once, each on the output of the ones before', () => {
  const body = bodyWith('one two')
  expect(runGuards(numbered([regex('one'), regex('<masked> two', true)]), body.guarded)).toMatchObject({
    detail: 'promptGuard.request[1]: regex matches[0]',
  })
  expect(body.contents()).toEqual(['<masked> two'])
  expect(body.exchange.guardChecks).toMatchObject([
    { index: 0, verdict: 'Mask', rule: 'matches[0]', placeholder: '<masked>', detail: undefined, length: 12 },
    { index: 1, verdict: 'Reject', rule: 'matches[0]', placeholder: '<masked>', detail: undefined, length: 12 },
  ])
  const clean = bodyWith('one two')
  expect(runGuards(numbered([regex('three'), regex('three', true)]), clean.guarded)).toBeUndefined()
  expect(clean.exchange.guardChecks).toMatchObject([
    { index: 0, verdict: 'Allow', rule: undefined, length: 7 },
    { index: 1, verdict: 'Allow', rule: undefined, length: 7 },
  ])
})

test('the record names all rules that masked, and says why a guard that masks has rejected', () => {
  const rules = compileRules({ matches: ['one', 'none', 'two'], builtins: ['Ssn'] }, () => {})
  const guard: RegexGuard = { ...regex('one'), rules }
  const body = bodyWith('078-05-1120 two one')
  expect(runGuards([guard], body.guarded)).toBeUndefined()
  expect(body.contents()).toEqual(['<SSN> <masked> <masked>'])
  expect(body.exchange.guardChecks).toMatchObject([
    { verdict: 'Mask', rule: 'matches[0], matches[2], Ssn', placeholder: '<masked>, <masked>, <SSN>' },
  ])
  const named = bodyOf({ messages: [{ role: 'user', name: 'two', content: 'one' }] })
  const why = 'the match is in a text that cannot change'
  expect(runGuards([guard], named.guarded)).toMatchObject({
    detail: `promptGuard.request[0]: regex matches[2]: ${why}`,
  })
  expect(named.exchange.guardChecks).toMatchObject([
    { verdict: 'Reject', rule: 'matches[2]', placeholder: '<masked>', detail: why },
  ])
})

test('no guard after a rejection runs', async () => {
  const log: string[] = []
  const service = services(log)
  expect(await run([regex('text', true), service('a', PASS)])).toMatchObject({ code: 'prompt-guard-rejected' })
  expect(log).toEqual([])
  const body = bodyWith('text')
  expect(await run([service('a', REJECT), regex('text'), service('b', PASS)], body)).toMatchObject({
    detail: 'promptGuard.request[0]: webhook rejected',
  })
  expect(log).toEqual(['a: text', 'a reject'])
  expect(body.contents()).toEqual(['text'])
})

test('a service that masks is asked after the one before it has let the text pass', async () => {
  const log: string[] = []
  const service = services(log)
  expect(await run([service('a', REJECT), service('m', PASS, 10, true)])).toMatchObject({
    code: 'prompt-guard-rejected',
  })
  expect(log).toEqual(['a: text', 'a reject'])
})

test('neighbours that judge are asked at the same time; one that masks is the last of them', async () => {
  const log: string[] = []
  const service = services(log)
  const mask: ServiceVerdict = { kind: 'mask', contents: ['<1>'] }
  const guards = [
    service('a', PASS, 20),
    service('b', PASS, 10),
    service('m', mask, 10, true),
    service('c', PASS),
    service('d', PASS),
    regex('<1>'),
    service('e', PASS),
  ]
  const body = bodyWith('text')
  expect(await run(guards, body)).toBeUndefined()
  expect(log).toEqual([
    'a: text',
    'b: text',
    'b pass',
    'a pass',
    'm: text',
    'm mask',
    'c: <1>',
    'd: <1>',
    'c pass',
    'd pass',
    'e: <masked>',
    'e pass',
  ])
  expect(body.exchange.guardChecks).toMatchObject(
    ['Allow', 'Allow', 'Mask', 'Allow', 'Allow', 'Mask', 'Allow'].map((verdict, index) => ({ verdict, index })),
  )
})

test('guards after one that masks see its mask', async () => {
  const log: string[] = []
  const service = services(log)
  await run([service('m', { kind: 'mask', contents: ['<1>'] }, 1, true), service('n', PASS, 1, true)])
  expect(log).toEqual(['m: text', 'm mask', 'n: <1>', 'n pass'])
})

test('the first rejection in the order of the list counts, without waiting for later verdicts', async () => {
  const service = services([])
  expect(await run([service('slow', REJECT, 50), service('fast', REJECT, 1)])).toMatchObject({
    detail: 'promptGuard.request[0]: webhook rejected',
  })
  let known: Refusal | undefined
  void Promise.resolve(
    runGuards(numbered([service('fast', REJECT, 1), service('slow', REJECT, 50)]), bodyWith('text').guarded),
  ).then((refusal) => {
    known = refusal
  })
  await time.pass(1)
  expect(known).toMatchObject({ detail: 'promptGuard.request[0]: webhook rejected' })
})

test.each([0, 1])(
  'after a rejection, %i passes before it, the questions to other services end and count for nothing',
  async (before) => {
    const signals: AbortSignal[] = []
    const asking = (name: string, verdict: ServiceVerdict, takesMs: number): ServiceGuard => {
      const guard = services([])(name, verdict, takesMs)
      const { service } = guard
      const judge: typeof service.judge = (question, around) => {
        signals.push(around.signal)
        return service.judge(question, around)
      }
      return { ...guard, service: { ...service, judge } }
    }
    const passing = [asking('a', PASS, 1)].slice(0, before)
    const guards = numbered([...passing, asking('b', REJECT, 10), asking('slow', PASS, 10_000)])
    const outcome = Promise.resolve(runGuards(guards, bodyWith('text').guarded))
    await time.pass(9)
    expect(signals.map(({ aborted }) => aborted)).toEqual(guards.map(() => false))
    await time.pass(1)
    expect(await outcome).toMatchObject({ detail: `promptGuard.request[${before}]: webhook rejected` })
    expect(signals.at(-1)!.aborted).toBe(true)
  },
)

test.each<[verdict: ServiceVerdict, refusal: object, check: object]>([
  [
    { kind: 'reject', status: 451, body: 'law', requestId: 'r' },
    { code: 'prompt-guard-rejected', status: 451, body: 'law' },
    { verdict: 'Reject', requestId: 'r', detail: undefined },
  ],
  [
    { kind: 'failed', detail: 'it is down' },
    { code: 'prompt-guard-failed', detail: 'promptGuard.request[0]: webhook default/judge: it is down' },
    { verdict: 'Fail', detail: 'it is down' },
  ],
])('%j ends the request', async (verdict, refusal, check) => {
  const body = bodyWith('text')
  expect(await run([services([])('a', verdict)], body)).toMatchObject(refusal)
  expect(body.exchange.guardChecks).toMatchObject([{ ...check, length: 4, durationMs: 10, isReused: false }])
})

test('a mask of a text that cannot change rejects', async () => {
  const bytes = new TextEncoder().encode(JSON.stringify({ messages: [{ role: 'user', name: 'ann', content: '' }] }))
  const document = parseDocument(bytes) as JsonValue
  const texts = runAtOnce(
    GuardedTexts.read(bytes, runAtOnce(FORMATS.Completions.readRequestTexts(document))),
  ) as GuardedTexts
  const exchange = exchangeWith()
  const guard = services([])('m', { kind: 'mask', contents: ['<N>', '<N>'] }, 1, true)
  const outcome = runGuards([guard], { exchange, texts, head: exchange.request })
  await time.pass(10)
  expect(await outcome).toMatchObject({ detail: 'promptGuard.request[0]: webhook masked a text that cannot change' })
  expect(exchange.guardChecks).toMatchObject([
    { verdict: 'Reject', detail: 'the mask is in a text that cannot change' },
  ])
})

test('services are not asked about a body without text', async () => {
  const log: string[] = []
  expect(await run([services(log)('a', REJECT)], bodyWith(''))).toBeUndefined()
  expect(log).toEqual([])
})

test.each([[['a']], [['', 'a']], [['a', '']]])('a service is asked about few texts: %j', async (texts) => {
  const log: string[] = []
  await run([services(log)('a', REJECT)], bodyWith(...texts))
  expect(log).not.toEqual([])
})

test('a pattern that takes long lets other tasks run, and the next guards see its masks', async () => {
  let now = 0
  clock.monotonic = () => (now += 5)
  let others = 0
  setImmediate(() => others++)
  const body = bodyWith('a 1', 'b 2', 'c 3', ...new Array(600).fill('x'))
  const outcome = runGuards(numbered([regex('[0-9]'), regex('c <masked>', true)]), body.guarded)
  expect(outcome).toBeInstanceOf(Promise)
  expect(await outcome).toMatchObject({ detail: 'promptGuard.request[1]: regex matches[0]' })
  expect(others).toBe(1)
  expect(body.contents().slice(0, 3)).toEqual(['a <masked>', 'b <masked>', 'c <masked>'])
})

test('a pattern that takes long and rejects ends the run', async () => {
  let now = 0
  clock.monotonic = () => (now += 5)
  const body = bodyWith('a 1', 'b 2', 'c 3', ...new Array(200).fill('x'), 'y')
  const outcome = runGuards(numbered([regex('y', true), regex('a')]), body.guarded)
  expect(outcome).toBeInstanceOf(Promise)
  expect(await outcome).toMatchObject({
    detail: 'promptGuard.request[0]: regex matches[0]',
  })
  expect(body.contents().slice(0, 3)).toEqual(['a 1', 'b 2', 'c 3'])
})

test('a text that passes patterns which take long passes', async () => {
  let now = 0
  clock.monotonic = () => (now += 5)
  const body = bodyWith('a 1', ...new Array(600).fill('x'))
  const outcome = runGuards(numbered([regex('[0-9]')]), body.guarded)
  expect(outcome).toBeInstanceOf(Promise)
  expect(await outcome).toBeUndefined()
  expect(body.contents()[0]).toBe('a <masked>')
})
