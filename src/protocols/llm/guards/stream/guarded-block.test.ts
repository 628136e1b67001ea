import { expect, test } from 'vitest'
import { runAtOnce, type Steps } from '#base/in-slices.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import type { EventText } from '../../texts/body-texts.ts'
import type { Guard, RegexGuard, ServiceGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import type { ServiceVerdict } from '../services/service.ts'
import { GuardedBlock, type StreamPiece } from './guarded-block.ts'
import { KeptText, KeptTextMemory } from './kept-text.ts'

const refusal = reject('prompt-guard-rejected', { status: 403, body: 'no' })
const SECRET: RegexGuard = {
  ...{ phase: 'response', index: 0, kind: 'regex', rejects: false, refusal },
  rules: compileRules({ matches: ['secret-[0-9]+'] }, () => {}),
}

/** Work on a text goes on in later turns of the event loop if a slice of it takes long. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((later) => setImmediate(later))
}

/** A service that answers when the test says so. */
function service(masks = true) {
  const asked: ((verdict: ServiceVerdict) => Promise<void>)[] = []
  const contents: string[] = []
  const guard: ServiceGuard = {
    ...{ phase: 'response', index: 1, kind: 'webhook', refusal },
    service: {
      kind: 'webhook',
      destination: 'ProxyBackend/default/judge',
      masks,
      judge: ({ messages }) => {
        contents.push(messages[0]!.content)
        return new Promise((resolve) =>
          asked.push(async (verdict) => {
            resolve(verdict)
            await turns()
          }),
        )
      },
    },
  }
  return { guard, asked, contents }
}

interface Kind {
  readonly form?: EventText['form']
  readonly isFixed?: boolean
  readonly keeps?: number
}

function blockOf(guards: readonly Guard[], { form = 'string', isFixed = false, keeps = 100_000 }: Kind = {}) {
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const refused: Refusal[] = []
  const failed: string[] = []
  const noted: string[] = []
  const later: Steps<void>[] = []
  const place = { start: 0, end: 0, path: 'a', form, canChange: !isFixed }
  const block = new GuardedBlock(
    { block: 'a', form, place, kind: 'delta', ends: false, sequence: undefined },
    {
      guards,
      exchange,
      signal: new AbortController().signal,
      refuse: (why) => void refused.push(why),
      fail: (detail) => void failed.push(detail),
      progressed: () => {},
      later: (work) => void later.push(work),
      noted: (_, verdict) => void noted.push(verdict),
    },
    new KeptText(new KeptTextMemory(roomFor(100_000).claim, keeps)),
  )
  const piece = (original: string): StreamPiece => ({ original, released: undefined })
  const push = (original: string) => {
    const pushed = piece(original)
    const rest = block.push(pushed)
    if (rest !== undefined) runAtOnce(rest)
    return pushed
  }
  const end = () => inOneTurn(() => block.end())
  const repeat = (original: string) => {
    const repeated = piece(original)
    end()
    block.repeat(repeated)
    return repeated
  }
  return { block, push, end, repeat, refused, failed, noted, later }
}

test('a text leaves as the guards let it', () => {
  const { block, end, push, noted } = blockOf([SECRET])
  const first = push('a secr')
  expect([first.released, block.isFinished]).toEqual([undefined, false])
  const second = push('et-12 b')
  expect([first.released, second.released]).toEqual(['a <masked>', ' b'])
  end()
  expect([block.hasText, block.isFinished]).toEqual([true, true])
  expect(noted).toEqual(['Mask', 'Mask'])
})

test('an event that repeats a text gets what the client got, when all of it has left', async () => {
  const { guard, asked } = service()
  const { push, repeat, block } = blockOf([SECRET, guard])
  push('a secret-1')
  const early = repeat('a secret-1')
  expect([early.released, block.isAsking]).toEqual([undefined, true])
  await asked[0]!({ kind: 'mask', contents: ['a <masked> now'] })
  expect(early.released).toBe('a <masked> now')
  expect(repeat('something else').released).toBe('a <masked> now')
  expect(asked).toHaveLength(1)
})

test('a text that was too long to be kept cannot be repeated', () => {
  const { push, repeat, failed } = blockOf([SECRET], { keeps: 1000 })
  for (let i = 0; i < 200; i++) push('word and ')
  expect([repeat('word and '.repeat(200)).released, failed]).toEqual([
    undefined,
    ['a text that was too long to be kept is repeated'],
  ])
})

test('services that have no room make it busy', async () => {
  const { guard, asked } = service()
  const { block, push } = blockOf([guard])
  push('x'.repeat(1024))
  expect([block.isAsking, block.isBusy]).toEqual([true, false])
  push('y'.repeat(1024))
  expect(block.isBusy).toBe(true)
  await asked[0]!({ kind: 'pass' })
  expect(block.isBusy).toBe(false)
})

test.each<[kind: Kind, isRefused: boolean]>([
  [{}, false],
  [{ form: 'input' }, false],
  [{ form: 'arguments' }, false],
  [{ isFixed: true }, true],
])('the mask of a service in a text of kind %j', async (kind, isRefused) => {
  const { guard, asked } = service()
  const { end, push, refused } = blockOf([guard], kind)
  const piece = push('"a"')
  end()
  await turns()
  await asked[0]!({ kind: 'mask', contents: [kind.form === undefined ? '"b"' : 'b'] })
  expect(refused).toHaveLength(isRefused ? 1 : 0)
  expect(piece.released).toBe(isRefused ? undefined : '"b"')
})

test.each<[what: string, deltas: string[], released: string[]]>([
  ['a string', ['{"to":"secr', 'et-1', '","n":1}'], ['{"to":"<masked>","n":1}', '', '']],
  ['nothing matches', ['{"a":', '"b"}'], ['{"a":', '"b"}']],
  ['a match over two strings is none', ['["secret-","1"]'], ['["secret-","1"]']],
  ['what is no JSON is one text', ['', '{"a":"secr', 'et-1', ' and'], ['', '{"a":"<masked> and', '', '']],
  ['a character in two halves', ['"\ud83d', '\ude42 secret-1"'], ['"🙂 <masked>"', '']],
  ['nothing', [], []],
])('arguments are held until they are complete: %s', (_, deltas, released) => {
  for (const form of ['arguments', 'input'] as const) {
    const { end, push } = blockOf([SECRET], { form })
    const pieces = deltas.map(push)
    expect(pieces.map((piece) => piece.released)).toEqual(deltas.map(() => undefined))
    end()
    expect(pieces.map((piece) => piece.released)).toEqual(released)
  }
})

test('arguments that cannot change, or are no text, refuse the stream', () => {
  const rejecting = blockOf([SECRET], { form: 'arguments' })
  rejecting.push('{"secret-1":0}')
  rejecting.end()
  expect(rejecting.refused).toMatchObject([{ code: 'prompt-guard-rejected' }])
  const unreadable = blockOf([SECRET], { form: 'arguments' })
  const piece = unreadable.push('"\ud83d"')
  unreadable.end()
  expect([unreadable.refused[0]?.code, piece.released]).toEqual(['llm-response-invalid', undefined])
})

test('a service sees the strings of arguments once, when they are complete', async () => {
  const { guard, asked, contents } = service()
  const { block, end, push } = blockOf([SECRET, guard], { form: 'arguments' })
  const pieces = ['["a secr', 'et-1","', 'b"]'].map(push)
  block.judgeNow()
  expect([contents, block.isBusy]).toEqual([[], false])
  end()
  await turns()
  expect([contents, block.isAsking]).toEqual([['a <masked> b'], true])
  await asked[0]!({ kind: 'mask', contents: ['a <masked> c'] })
  expect(pieces.map(({ released }) => released)).toEqual(['["a <masked>","c"]', '', ''])
  expect(block.isAsking).toBe(false)
})

test('a long text that a service has let pass goes on in parts, as work for later', async () => {
  const { guard, asked } = service()
  const { end, push, later } = blockOf([SECRET, guard, SECRET])
  const long = `${'x '.repeat(3000)}secret-1 and`
  const [first, second] = [push(long), push(' so secret-')]
  end()
  expect(asked).toHaveLength(1)
  await asked[0]!({ kind: 'mask', contents: [long.replace('secret-1', 'secret-2')] })
  expect([first.released, later]).toEqual([undefined, [expect.anything()]])
  const steps = later[0]!
  let yields = 0
  while (!steps.next().done) yields++
  expect(yields).toBeGreaterThan(3)
  expect(first.released).toBe(`${'x '.repeat(3000)}<masked> and`)
  expect(second.released).toBeUndefined()
})

test('what one service has let pass waits for no other pause at the next one', async () => {
  const [first, second, third] = [service(), service(), service()]
  const { block, push } = blockOf([first.guard, SECRET, second.guard, third.guard])
  const piece = push('hello secret-1 you ')
  block.judgeNow()
  expect([first.contents, second.contents]).toEqual([['hello secret-1 you '], []])
  await first.asked[0]!({ kind: 'pass' })
  expect([second.contents, third.contents]).toEqual([['hello <masked> you '], []])
  await second.asked[0]!({ kind: 'pass' })
  expect([third.contents, piece.released]).toEqual([['hello <masked> you '], undefined])
  await third.asked[0]!({ kind: 'pass' })
  expect(piece.released).toBe('hello <masked> you ')
})

test.each([
  ['string', 'secret-1 text', '<masked> <T>'],
  ['arguments', '{"":"secret-1 text"}', '{"":"<masked> <T>"}'],
] as const)(
  'neighbours that judge see %s at the same time, others what those before them let pass',
  async (form, given, passed) => {
    const services = [false, false, true, false, false, false].map((masks) => service(masks))
    const [a, b, m, c, d, e] = services
    const { push, end, refused } = blockOf([a!.guard, b!.guard, m!.guard, c!.guard, d!.guard, SECRET, e!.guard], {
      form,
    })
    const piece = push(given)
    end()
    await turns()
    const contents = () => services.map(({ contents: [content] }) => content)
    const none = undefined
    const first = contents()[0]!
    expect(first.trim()).toBe('secret-1 text')
    expect(contents()).toEqual([first, first, none, none, none, none])
    await b!.asked[0]!({ kind: 'pass' })
    expect(m!.asked).toEqual([])
    await a!.asked[0]!({ kind: 'pass' })
    expect(contents()).toEqual([first, first, first, none, none, none])
    const masked = first.replace('text', '<T>')
    await m!.asked[0]!({ kind: 'mask', contents: [masked] })
    expect(contents()).toEqual([first, first, first, masked, masked, none])
    await c!.asked[0]!({ kind: 'pass' })
    await d!.asked[0]!({ kind: 'pass' })
    expect(contents()[5]).toBe(masked.replace('secret-1', '<masked>'))
    expect(piece.released).toBeUndefined()
    await e!.asked[0]!({ kind: 'pass' })
    expect(piece.released).toBe(passed)
    expect(refused).toEqual([])
  },
)
