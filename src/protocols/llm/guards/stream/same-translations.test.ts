import { expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { encodeEvent } from '#net/event-stream/event-frame.ts'
import { encodeHeaders } from '#net/event-stream/event-header.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import type { Setup } from '#test/support/prepare-llm.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { translated } from '#test/support/translated-exchange.ts'
import type { ChatType } from '../../dialects/index.ts'
import { pass } from '../../testing.ts'
import type { RegexGuard } from '../guard.ts'
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

const REQUESTS: Readonly<Record<ChatType, object>> = {
  Completions: { messages: [{ role: 'user', content: 'q' }] },
  Messages: { max_tokens: 9, messages: [{ role: 'user', content: 'q' }] },
  Responses: { input: 'q' },
}

type GuardSpecs = readonly { readonly regex: { readonly action: 'Mask'; readonly matches: readonly string[] } }[]

const masking = (...matches: string[]) => ({ regex: { action: 'Mask' as const, matches } })

/**
 * A kind of block occurs again behind another kind. Completions join them: a whole answer has one text, a stream two
 * ("Each text is checked alone" in docs/behaviour/prompt-guards.md).
 */
function goesBack(whole: Any): boolean {
  const blocks: Any[] = whole.content ?? whole.output.message.content
  const kinds = blocks.map((block) => block.type ?? Object.keys(block)[0])
  return kinds.some((kind, at) => kind !== kinds[at - 1] && kinds.indexOf(kind) < at)
}

/** What a client gets. */
interface Got {
  /** By what they are, in their order. */
  readonly texts: Texts
  /** A guard has refused the answer, or ended the stream. */
  readonly isEnded: boolean
}

/** What a client gets with some guards, whole or as a stream, when its provider answers with a body. */
type Answered = (body: object, stream: boolean) => Got

function answeredWith(rig: ProviderRig, client: ChatType, response: GuardSpecs): Answered {
  const { provider } = rig
  const setup = { provider, ai: { routes: { '*': client }, promptGuard: { response } }, maxKept: 100_000 } as const
  return (body, stream) => answered(rig, client, setup as Any, body, stream)
}

function answered({ streamType }: ProviderRig, client: ChatType, setup: Setup, body: object, stream: boolean): Got {
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

const CLIENTS = Object.keys(DIALECTS) as ChatType[]

const WAYS = [
  ['whole, as a stream', 'whole', true],
  ['a stream', 'stream', true],
  ['a stream, whole', 'stream', false],
] as const

function partsFrom(random: SeededRandom, kinds: readonly Kind[]): Part[] {
  return Array.from({ length: 1 + random.below(6) }, () => {
    const kind = random.pick(kinds)
    return { kind, text: kind === 'call' ? argumentsFrom(random) : textFrom(random) }
  })
}

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
      if (client === 'Completions' && goesBack(told.whole)) continue
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
const WHOLE_ANSWERS: Readonly<Record<ChatType, (texts: Texts) => object>> = {
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

// In chat completions, a text ends when another one of the choice begins.
test.each(['Messages', 'Responses'] as const)(
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
