import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import type { Setup } from '#test/support/prepare-llm.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { translated } from '#test/support/translated-exchange.ts'
import { pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
import type { GuardedFormat } from '../guarded-format.ts'
import { PATTERNS, sharedRules } from '../rules/testing.ts'
import {
  type Any,
  argumentsFrom,
  DIALECTS,
  type Event,
  interleave,
  isBeginning,
  isJson,
  MESSAGES,
  readStream,
  shown,
  sse,
  type Texts,
  textFrom,
} from './testing.ts'

type Kind = 'thinking' | 'text' | 'refusal' | 'call'

/** What a model writes, in this order. */
interface Part {
  readonly kind: Kind
  readonly text: string
}

/** An answer of a provider. */
interface Told {
  readonly whole: object
  readonly stream: Buffer
}

interface ProviderRig {
  readonly provider: object
  readonly streamType: string
  tell(parts: readonly Part[], random: SeededRandom): Told
}

/** Of chat completions: a whole answer has one text of each kind, and a stream tells them in any order. */
const OF_COMPLETIONS: ProviderRig = {
  provider: { providerFive: {} },
  streamType: 'text/event-stream',
  tell(parts, random) {
    const textOf = (kind: Kind) => parts.map((part) => (part.kind === kind ? part.text : '')).join('')
    const calls = parts.filter(({ kind }) => kind === 'call')
    const called = calls.map(({ text }, at) => callOf(at, text))
    const message = {
      role: 'assistant',
      reasoning_content: textOf('thinking'),
      content: textOf('text'),
      refusal: textOf('refusal') || null,
      ...(called.length > 0 && { tool_calls: called }),
    }
    const head = { id: 'c', model: 'm' }
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason }],
    })
    const member = { thinking: 'reasoning_content', text: 'content', refusal: 'refusal' }
    const events = parts.flatMap((part) => {
      if (part.kind !== 'call') {
        const name = member[part.kind]
        return random.pieces(part.text, 4).map((piece) => chunk({ [name]: piece }))
      }
      const index = calls.indexOf(part)
      const pieces = random.pieces(part.text, 5).map((given) => ({ index, function: { arguments: given } }))
      return [{ index, ...callOf(index, '') }, ...pieces].map((call) => chunk({ tool_calls: [call] }))
    })
    const stream = [chunk({ role: 'assistant', content: '' }), ...events, chunk({}, 'stop')].map(sse)
    return {
      whole: { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] },
      stream: Buffer.from(`${stream.join('')}data: [DONE]\n\n`),
    }
  },
}

const callOf = (at: number, given: string) => ({
  id: `c${at}`,
  type: 'function',
  function: { name: 'f', arguments: given },
})

const SIGNATURE = 'c2lnbmVk'

const OF_MESSAGES: ProviderRig = {
  provider: { providerFour: {} },
  streamType: 'text/event-stream',
  tell(_, random) {
    // It also has results of tools.
    const { whole, events } = MESSAGES.answer(random)
    const usage = { input_tokens: 1, output_tokens: 1 }
    const about = { model: 'm', usage }
    const told = events.map((event) =>
      event.type === 'message_start' ? { ...event, message: { ...(event.message as object), ...about } } : event,
    )
    return {
      whole: { ...(whole as object), ...about, stop_reason: 'end_turn' },
      stream: Buffer.from(told.map(sse).join('')),
    }
  },
}

type Ordering = <T>(random: SeededRandom, blocks: readonly (readonly T[])[]) => readonly T[]

const ofConverse = (order: Ordering): ProviderRig => ({
  provider: { providerSeven: {} },
  streamType: 'application/vnd.amazon.eventstream',
  tell(parts, random) {
    const blocks = parts.map(({ kind, text }, index) => {
      const delta = (of: object) => frame('contentBlockDelta', { contentBlockIndex: index, delta: of })
      const stop = frame('contentBlockStop', { contentBlockIndex: index })
      const pieces = random.pieces(text, 4)
      switch (kind) {
        case 'thinking': {
          const told = pieces.map((piece) => delta({ reasoningContent: { text: piece } }))
          const isSigned = random.below(2) === 0
          const signed = isSigned ? [delta({ reasoningContent: { signature: SIGNATURE } })] : []
          const reasoningText = { text, ...(isSigned && { signature: SIGNATURE }) }
          return { whole: { reasoningContent: { reasoningText } }, frames: [...told, ...signed, stop] }
        }
        case 'call': {
          const toolUse = { toolUseId: `t${index}`, name: 'f' }
          const begun = frame('contentBlockStart', { contentBlockIndex: index, start: { toolUse } })
          const told = pieces.map((input) => delta({ toolUse: { input } }))
          return { whole: { toolUse: { ...toolUse, input: JSON.parse(text) } }, frames: [begun, ...told, stop] }
        }
        default:
          return { whole: { text }, frames: [...pieces.map((piece) => delta({ text: piece })), stop] }
      }
    })
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const content = blocks.map(({ whole }) => whole)
    const told = order(
      random,
      blocks.map(({ frames }) => frames),
    )
    const frames = [
      frame('messageStart', { role: 'assistant' }),
      ...told,
      frame('messageStop', { stopReason: 'end_turn' }),
      frame('metadata', { usage }),
    ]
    return {
      whole: { output: { message: { role: 'assistant', content } }, stopReason: 'end_turn', usage },
      stream: Buffer.concat(frames),
    }
  },
})

const OF_CONVERSE = ofConverse((_, blocks) => blocks.flat())
/** Its blocks overlap. */
const OF_OVERLAPPING = ofConverse(interleave)

function frame(type: string, payload: Event): Uint8Array {
  const headers = { ':message-type': 'event', ':event-type': type }
  const given = Object.entries(headers).map(([name, value]) => ({ name, type: 'text' as const, value }))
  return encodeEvent(encodeHeaders(given), Buffer.from(JSON.stringify(payload)))
}

const REQUESTS: Readonly<Record<GuardedFormat, object>> = {
  Completions: { messages: [{ role: 'user', content: 'q' }] },
  Messages: { max_tokens: 9, messages: [{ role: 'user', content: 'q' }] },
  Responses: { input: 'q' },
}

type GuardSpecs = readonly { readonly regex: { readonly action: 'Mask'; readonly matches: readonly string[] } }[]

const masking = (...matches: string[]) => ({ regex: { action: 'Mask' as const, matches } })

/** What a client gets. */
interface Got {
  /** By what they are, in their order. */
  readonly texts: Texts
  /** A guard has refused the answer, or ended the stream. */
  readonly isEnded: boolean
}

/** What a client gets with some guards, whole or as a stream, when its provider answers with a body. */
type Answered = (body: object, stream: boolean) => Got

function answeredWith(rig: ProviderRig, client: GuardedFormat, response: GuardSpecs): Answered {
  const { provider } = rig
  const setup = { provider, ai: { routes: { '*': client }, promptGuard: { response } }, maxKept: 100_000 } as const
  return (body, stream) => answered(rig, client, setup as Any, body, stream)
}

function answered(
  { streamType }: ProviderRig,
  client: GuardedFormat,
  setup: Setup,
  body: object,
  stream: boolean,
): Got {
  const headers = { 'content-type': Buffer.isBuffer(body) ? streamType : 'application/json' }
  const request = { model: 'm', stream, ...REQUESTS[client] }
  const { status, text } = inOneTurn(() => translated(request, setup, { headers, body }))
  if (status === 403) return { texts: new Map(), isEnded: true }
  expect({ status, text }).toMatchObject({ status: 200 })
  const dialect = DIALECTS[client]
  if (!stream) return { texts: dialect.read(JSON.parse(text)), isEnded: false }
  const { texts, hasError } = readStream(dialect, text)
  if (hasError) expect(text).toContain('guardrail_intervention')
  return { texts, isEnded: hasError }
}

/** Whether a text could be another one with more masks: what it shows is there in the same order. */
function hasMoreMasks(text: string, other: string): boolean {
  const shownParts = text.split(/<\w+>/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${shownParts.join('[^]*?')}$`).test(other)
}

const CLIENTS = Object.keys(DIALECTS) as GuardedFormat[]

const WAYS = [
  ['whole, as a stream', 'whole', true],
  ['a stream', 'stream', true],
  ['a stream, whole', 'stream', false],
] as const

/** @param textOf makes a text */
function partsFrom(random: SeededRandom, kinds: readonly Kind[], textOf = textFrom): Part[] {
  return Array.from({ length: 1 + random.below(6) }, () => {
    const kind = random.pick(kinds)
    return { kind, text: kind === 'call' ? argumentsFrom(random) : textOf(random) }
  })
}

/** Texts and patterns so short that many matches go over several texts. */
const shortText = (random: SeededRandom) => random.pick(['a', 'b', 'c', 'ab', 'xa', 'bc', ''])
const SHORT_PATTERNS = ['ab', 'bc', 'a[ab]?c', '(?:ab)+', '^ab', '\\ba.c', 'x[^c]*c', 'b.$', 'abc|ca|a', '[^b]c']

const SAME_BLOCKS = [
  ['Messages', OF_MESSAGES, ['Completions', 'Responses']],
  ['Converse', OF_CONVERSE, CLIENTS],
] as const

test.each(SAME_BLOCKS.flatMap(([api, rig, clients]) => clients.map((client) => [api, client, rig] as const)))(
  'an answer of %s for a client of %s is masked alike, streamed or not, whatever the provider sends',
  (api, client, rig) => {
    const random = seededRandom(3)
    const found = { ended: 0, masked: 0, refused: 0 }
    const count = sampleSize(40, 2000)
    const unguardedWith = answeredWith(rig, client, [masking('\\x{10FFFF}')])
    for (let each = 0; each < count; each++) {
      const guards = Array.from({ length: 1 + random.below(2) }, () =>
        masking(...Array.from({ length: 1 + random.below(2) }, () => random.pick(PATTERNS))),
      )
      const parts = partsFrom(random, ['thinking', 'text', 'text', 'call'])
      const told = rig.tell(parts, random)
      const guarded = answeredWith(rig, client, guards)
      const checked = guarded(told.whole, false)
      const unguarded = unguardedWith(told.whole, false)
      for (const [way, form, stream] of WAYS) {
        const got = guarded(told[form], stream)
        const fail = (what: string) => {
          const texts = { checked: [...checked.texts], got: [...got.texts], isEnded: got.isEnded }
          throw new Error(`${what}, ${way}: ${JSON.stringify({ api, each, guards, parts, told: told.whole, texts })}`)
        }
        if (checked.isEnded) {
          found.refused++
          if (!got.isEnded) fail('only the whole answer is refused')
        } else if (got.isEnded) {
          found.ended++
          if (!stream) fail('only one way is refused')
          for (const [key, text] of got.texts) {
            if (!isJson(key) && !isBeginning(text, checked.texts.get(key) ?? '')) fail(`more has left of ${key}`)
          }
        } else if (shown(got.texts) !== shown(checked.texts)) fail('other masks')
        else if (shown(checked.texts) !== shown(unguarded.texts)) found.masked++
      }
    }
    expect(found.masked).toBeGreaterThan(count / 10)
  },
  600_000,
)

/** An answer for a client with these texts. */
const WHOLE_ANSWERS: Readonly<Record<GuardedFormat, (texts: Texts) => object>> = {
  Completions(texts) {
    const calls = [...texts].filter(([key]) => isJson(key)).map(([, text], at) => callOf(at, text))
    const message = {
      role: 'assistant',
      content: texts.get('0 content'),
      reasoning_content: texts.get('0 reasoning_content'),
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    return { choices: [{ index: 0, message, finish_reason: 'stop' }] }
  },
  Messages(texts) {
    const content: object[] = []
    for (const [key, text] of texts) {
      const [index, kind] = key.split(' ') as [string, string]
      if (kind === 'input') content[Number(index)] = { type: 'tool_use', id: 't', name: 'f', input: JSON.parse(text) }
      else content[Number(index)] = { type: kind, [kind]: text }
    }
    return {
      type: 'message',
      role: 'assistant',
      content: Array.from(content, (block) => block ?? { type: 'text', text: '' }),
    }
  },
  Responses(texts) {
    const output: Any[] = []
    for (const [key, text] of texts) {
      const [index, kind] = key.split(' ') as [string, string]
      const at = Number(index)
      if (kind === 'arguments') output[at] = { type: 'function_call', call_id: 'c', name: 'f', arguments: text }
      else if (kind === 'summary') {
        output[at] ??= { type: 'reasoning', summary: [] }
        output[at].summary.push({ type: 'summary_text', text })
      } else {
        output[at] ??= { type: 'message', role: 'assistant', content: [] }
        output[at].content.push({ type: 'output_text', text, annotations: [] })
      }
    }
    return { output: Array.from(output, (item) => item ?? { type: 'reasoning', summary: [] }) }
  },
}

test.each(CLIENTS)(
  'a stream of overlapping blocks of Converse is masked for a client of %s as a whole answer with its texts',
  (client) => {
    const random = seededRandom(5)
    const found = { ended: 0, masked: 0, refused: 0 }
    const count = sampleSize(40, 2000)
    const unguardedWith = answeredWith(OF_OVERLAPPING, client, [masking('\\x{10FFFF}')])
    const whole = (texts: Texts, specs: GuardSpecs): Got => {
      const guards = specs.map(
        ({ regex: { matches } }): RegexGuard => ({
          ...{ phase: 'response', index: 0, kind: 'regex', rejects: false, refusal: reject('prompt-guard-rejected') },
          rules: sharedRules({ matches }),
        }),
      )
      const body = JSON.stringify(WHOLE_ANSWERS[client](texts))
      const { text, refusal } = pass(body, { type: client, guards, contentType: 'application/json' })
      if (refusal !== undefined) return { texts: new Map(), isEnded: true }
      return { texts: DIALECTS[client].read(JSON.parse(text)), isEnded: false }
    }
    for (let each = 0; each < count; each++) {
      const guards = Array.from({ length: 1 + random.below(2) }, () =>
        masking(...Array.from({ length: 1 + random.below(2) }, () => random.pick(PATTERNS))),
      )
      const parts = partsFrom(random, ['thinking', 'text', 'text', 'call'])
      const { stream } = OF_OVERLAPPING.tell(parts, random)
      const unguarded = unguardedWith(stream, true)
      // What comes between the halves of a character makes two of them, and a whole answer with one cannot be read.
      if (![...unguarded.texts.values()].every((text) => text.isWellFormed())) continue
      const checked = whole(unguarded.texts, guards)
      const got = answeredWith(OF_OVERLAPPING, client, guards)(stream, true)
      const fail = (what: string) => {
        const texts = {
          unguarded: [...unguarded.texts],
          checked: [...checked.texts],
          got: [...got.texts],
          isEnded: got.isEnded,
        }
        throw new Error(`${what}: ${JSON.stringify({ each, guards, parts, texts })}`)
      }
      if (checked.isEnded) {
        found.refused++
        if (!got.isEnded) fail('only the whole answer is refused')
      } else if (got.isEnded) {
        found.ended++
        for (const [key, text] of got.texts) {
          if (!isJson(key) && !isBeginning(text, checked.texts.get(key) ?? '')) fail(`more has left of ${key}`)
        }
      } else if (shown(got.texts) !== shown(checked.texts)) fail('other masks')
      else if (shown(checked.texts) !== shown(unguarded.texts)) found.masked++
    }
    expect(found.masked).toBeGreaterThan(count / 10)
  },
  600_000,
)

const KIND_OF_KEY: Readonly<Record<string, Kind>> = {
  reasoning_content: 'thinking',
  thinking: 'thinking',
  summary: 'thinking',
  content: 'text',
  text: 'text',
  refusal: 'refusal',
}

/** All texts of a kind, one after the other. */
function joined({ texts }: Got, kind: Kind): string {
  const found = Array.from(texts, ([key, text]) => (KIND_OF_KEY[key.split(' ')[1]!] === kind ? text : ''))
  return found.join('')
}

test.each([
  ['Messages', ['thinking', 'text']],
  ['Responses', ['thinking', 'text', 'refusal']],
] as const)(
  'a stream of chat completions shows a client of %s nothing of a match, in however many blocks it comes',
  (client, kinds) => {
    const random = seededRandom(client.length)
    const found = { ended: 0, masked: 0 }
    const count = sampleSize(60, 5000)
    const guarded = SHORT_PATTERNS.map((pattern) => answeredWith(OF_COMPLETIONS, client, [masking(pattern)]))
    for (let each = 0; each < count; each++) {
      const pattern = random.pick(SHORT_PATTERNS)
      const answer = guarded[SHORT_PATTERNS.indexOf(pattern)]!
      const parts = partsFrom(random, [...kinds, ...kinds, 'call'], shortText)
      const { stream } = OF_COMPLETIONS.tell(parts, random)
      for (const isStream of [true, false]) {
        const got = answer(stream, isStream)
        for (const kind of kinds) {
          // The same texts, with nothing of another kind between them.
          const alone = OF_COMPLETIONS.tell(
            parts.filter((part) => part.kind === kind),
            random,
          )
          const checked = answer(alone.whole, false)
          const [text, masked] = [joined(got, kind), joined(checked, kind)]
          const isSafe = got.isEnded ? isBeginning(text, masked) : hasMoreMasks(text, masked)
          if (!isSafe) {
            const texts = { got: [...got.texts], masked, isEnded: got.isEnded }
            throw new Error(`${kind} leaves: ${JSON.stringify({ each, isStream, pattern, parts, texts })}`)
          }
          if (got.isEnded) found.ended++
          else if (masked.includes('<masked>')) found.masked++
        }
      }
    }
    expect(found.masked).toBeGreaterThan(count / 10)
    expect(found.ended).toBeGreaterThan(count / 10)
  },
  600_000,
)
