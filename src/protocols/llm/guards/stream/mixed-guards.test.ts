import { afterEach, beforeEach, expect, test } from 'vitest'
import { reject } from '#exchange/outcome.ts'
import { Head } from '#net/http/head.ts'
import { roomFor } from '#net/testing/room-for.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { VirtualTime } from '#test/support/virtual-time.ts'
import { FORMATS } from '../../dialects/index.ts'
import { Collector } from '../../testing.ts'
import type { Guard } from '../guard.ts'
import { FEW_CHARS, maskWhole, OPEN_PATTERNS, sharedRules } from '../rules/testing.ts'
import type { ServiceVerdict } from '../services/service.ts'
import { GuardingStreamSink } from './guarding-stream-sink.ts'

let time: VirtualTime
beforeEach(() => {
  time = new VirtualTime()
})
afterEach(() => time[Symbol.dispose]())

/** A pattern that is masked, or a word that a service rejects or masks. */
type Check = { readonly pattern: string } | { readonly rejects: string } | { readonly masks: string }

/** The texts of a choice, and the only string in the arguments of a call. */
const NAMES = ['reasoning_content', 'content', 'refusal', 'string'] as const
const PATTERNS = [...OPEN_PATTERNS, 'a$|ab', 'b.{0,3}x', '\\Ba+', '^b', '\\bab', 'x[a-z]{2}', '[xz]+', 'b$', '<s>b']
const WORDS = ['x', 'z', 'ab', 'zx', 'bx']

interface Given {
  readonly checks: readonly Check[]
  /** The number of a text and a piece of it. */
  readonly events: readonly (readonly [at: number, piece: string])[]
}

function textsOf({ events }: Given): readonly string[] {
  return NAMES.map((_, at) => events.map((event) => (event[0] === at ? event[1] : '')).join(''))
}

/** The texts as a client gets them in a whole answer. Undefined: a service rejects it. */
function maskInAnswer(given: Given): readonly string[] | undefined {
  let texts = textsOf(given)
  for (const check of given.checks) {
    if ('pattern' in check) texts = texts.map((text) => maskWhole(sharedRules({ matches: [check.pattern] }), text))
    else if ('masks' in check) texts = texts.map((text) => text.replaceAll(check.masks, '<s>'))
    else if (texts.some((text) => text.includes(check.rejects))) return undefined
  }
  return texts
}

/** The texts as a client gets them in a stream, with verdicts and pauses at any time. */
async function maskInStream(given: Given, random: SeededRandom) {
  const asked: (() => void)[] = []
  const refusal = reject('prompt-guard-rejected')
  const guards = given.checks.map((check, index): Guard => {
    const guard = { phase: 'response', index, refusal } as const
    if ('pattern' in check) {
      return { ...guard, kind: 'regex', rejects: false, rules: sharedRules({ matches: [check.pattern] }) }
    }
    const verdictOn = (content: string): ServiceVerdict => {
      if ('masks' in check) return { kind: 'mask', contents: [content.replaceAll(check.masks, '<s>')] }
      return { kind: content.includes(check.rejects) ? 'reject' : 'pass' }
    }
    const judge = ({ messages: [message] }: { readonly messages: readonly { readonly content: string }[] }) =>
      new Promise<ServiceVerdict>((resolve) => asked.push(() => resolve(verdictOn(message!.content))))
    return { ...guard, kind: 'webhook', service: { kind: 'webhook', destination: '', masks: 'masks' in check, judge } }
  })
  const exchange = exchangeWith()
  exchange.response = Head.response(200)
  const out = new Collector()
  let isEnded = false
  const sink = new GuardingStreamSink(out, {
    ...{ guards, format: 'Completions', stream: FORMATS.Completions.stream(), exchange, kept: undefined },
    ...{ claim: roomFor(0).claim, maxEventBytes: 100_000, begin() {}, over() {} },
    refused() {
      isEnded = true
    },
  })
  const send = (delta: object) => {
    const bytes = Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`)
    sink.bytes(bytes, 0, bytes.length)
  }
  const sendPiece = (at: number, piece: string) => {
    if (NAMES[at] !== 'string') return send({ [NAMES[at]!]: piece })
    send({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
  }
  sendPiece(3, '["')
  const left = [...given.events]
  for (let isSent = false; out.ended === 0; ) {
    const kind = random.below(8)
    if (kind < 3 && asked.length > 0) asked.splice(random.below(asked.length), 1)[0]!()
    else if (left.length > 0) sendPiece(...left.shift()!)
    else if (!isSent) {
      isSent = true
      sendPiece(3, '"]')
      sink.end()
    }
    if (kind % 2 === 0) await time.pass(kind === 6 ? 600 : 0)
  }
  const texts = NAMES.map(() => '')
  for (const line of Buffer.from(out.text, 'latin1').toString().split('\n')) {
    if (!line.startsWith('data: {"choices"')) continue
    const { delta } = JSON.parse(line.slice(6)).choices[0]
    for (const [at, name] of NAMES.entries()) {
      texts[at] += (name === 'string' ? delta.tool_calls?.[0].function.arguments : delta[name]) ?? ''
    }
  }
  return { isEnded, texts: texts.map((text, at) => (NAMES[at] === 'string' ? text.slice(2, -2) : text)) }
}

function givenFrom(random: SeededRandom): Given {
  const checks = Array.from({ length: 1 + random.below(4) }, (): Check => {
    if (random.below(2) === 0) return { pattern: random.pick(PATTERNS) }
    return random.below(2) === 0 ? { masks: random.pick(WORDS) } : { rejects: random.pick(WORDS) }
  })
  const chars = [...FEW_CHARS, ...'bxxz']
  // They need no escape.
  const charsInString = chars.filter((char) => !'"\n'.includes(char))
  const queues = NAMES.map((name, at) => {
    const from = name === 'string' ? charsInString : chars
    const text = Array.from({ length: random.below(7) }, () => random.pick(from)).join('')
    return random.pieces(text, 3).map((piece) => [at, piece] as const)
  }).filter(({ length }) => length > 0)
  // A text of a choice ends when the next one begins; arguments may come in between.
  const call = queues.filter(([first]) => NAMES[first![0]] === 'string').flat()
  const events: Given['events'][number][] = []
  for (const piece of queues.filter(([first]) => NAMES[first![0]] !== 'string').flat()) {
    while (call.length > 0 && random.below(2) === 0) events.push(call.shift()!)
    events.push(piece)
  }
  events.push(...call)
  return { checks, events }
}

test('patterns and services one behind the other mask a stream as a whole answer, or end it', async () => {
  const random = seededRandom(1)
  const found = { ended: 0, masked: 0, rejected: 0 }
  for (let each = 0; each < sampleSize(300, 20_000); each++) {
    const given = givenFrom(random)
    const whole = maskInAnswer(given)
    const { isEnded, texts } = await maskInStream(given, random)
    const about = `${each}: ${JSON.stringify(given)}`
    if (whole === undefined) found.rejected++
    if (isEnded) found.ended++
    else expect(texts, about).toEqual(whole)
    if (!isEnded && whole?.join() !== textsOf(given).join()) found.masked++
    const last = given.checks.at(-1)!
    const word = 'masks' in last ? last.masks : 'rejects' in last ? last.rejects : undefined
    // A service lets no word leave that it has not let pass.
    if (word !== undefined) for (const text of texts) expect(text, about).not.toContain(word)
  }
  for (const count of Object.values(found)) expect(count).toBeGreaterThan(20)
}, 120_000)
