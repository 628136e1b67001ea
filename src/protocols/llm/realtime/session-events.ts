import { parseJson } from '#base/parse-json.ts'
import { type LlmFacts, type LlmTokens, NO_TOKENS } from '#exchange/llm-facts.ts'
import { classifyError } from '../facts/stream-error.ts'
import { readInputDetails, readOutputDetails, totalOf } from '../facts/usage-details.ts'
import { decodeText } from '../json/native.ts'
import { countAt, memberOf, objectAt, textAt } from '../json/read-value.ts'
import { findMember, type Members, scanMembers, stringAt } from '../json/scan-members.ts'
import { UnreportedOutput } from './unreported-output.ts'

export interface EventReading {
  /** A limit or an expression reads tokens. */
  readonly estimates: boolean
}

/** Reads facts from the events of a provider in a session; the tokens of a session are the sum over its responses (decision B08). */
export class SessionEvents {
  readonly #facts: LlmFacts
  /** Undefined: nothing reads tokens that no provider has reported. */
  readonly #unreported: UnreportedOutput | undefined

  constructor(facts: LlmFacts, { estimates }: EventReading) {
    this.#facts = facts
    this.#unreported = estimates ? new UnreportedOutput() : undefined
  }

  /** @returns whether the event reports tokens */
  read(message: Uint8Array): boolean {
    const members = scanMembers(message)
    if ('fault' in members) return false
    const type = textOf(members, 'type') ?? ''
    const read = READERS.get(type)
    // Most events are pieces of audio and text.
    if (read === undefined) {
      if (this.#unreported !== undefined && OUTPUT.test(type)) addOutput(members, type, this.#unreported)
      return false
    }
    const event = parseJson(decodeText(message, 0, message.length))
    if (!read(event, this.#facts)) return false
    if (type === 'response.done') this.#unreported?.reported(textAt(objectAt(event, 'response'), 'id') ?? '')
    return true
  }

  /** The session is over: what no response has reported is estimated. */
  settle(): void {
    const tokens = this.#unreported?.tokens ?? 0
    if (tokens === 0) return
    const facts = this.#facts
    facts.outputTokens = (facts.outputTokens ?? 0) + tokens
    facts.totalTokens = (facts.totalTokens ?? 0) + tokens
    facts.areTokensEstimated = true
  }
}

const OUTPUT = /^response\..*\.delta$/
const AUDIO = /^response\.(?:output_)?audio\.delta$/

/** Texts, transcripts of audio, and arguments of calls come in pieces, as audio does. */
function addOutput(members: Members, type: string, unreported: UnreportedOutput): void {
  const response = textOf(members, 'response_id') ?? ''
  if (!AUDIO.test(type)) unreported.add(response, textOf(members, 'delta') ?? '', 0)
  else unreported.add(response, undefined, members.bytes.length)
}

function textOf(members: Members, name: string): string | undefined {
  const index = findMember(members, name)
  return index < 0 ? undefined : stringAt(members, index)
}

/** What is read of an event. @returns whether it reports tokens */
type ReadEvent = (event: unknown, facts: LlmFacts) => boolean

const READERS: ReadonlyMap<string, ReadEvent> = new Map<string, ReadEvent>([
  ['session.created', readSession],
  ['session.updated', readSession],
  ['response.done', readResponse],
  // The input is transcribed by another model, with tokens of its own.
  [
    'conversation.item.input_audio_transcription.completed',
    (event, facts) => addUsage(objectAt(event, 'usage'), facts),
  ],
  ['error', (event, facts) => noteError(objectAt(event, 'error'), facts)],
])

function readSession(event: unknown, facts: LlmFacts): boolean {
  facts.responseModel = textAt(objectAt(event, 'session'), 'model') ?? facts.responseModel
  return false
}

function readResponse(event: unknown, facts: LlmFacts): boolean {
  const response = objectAt(event, 'response')
  facts.responseId = textAt(response, 'id') ?? facts.responseId
  noteError(memberOf(objectAt(response, 'status_details'), 'error'), facts)
  return addUsage(objectAt(response, 'usage'), facts)
}

function noteError(error: unknown, facts: LlmFacts): boolean {
  if (textAt(error, 'type') !== undefined) facts.errorType = classifyError(error).type
  return false
}

function addUsage(usage: unknown, facts: LlmFacts): boolean {
  const inputTokens = countAt(usage, 'input_tokens')
  const outputTokens = countAt(usage, 'output_tokens')
  const reported = countAt(usage, 'total_tokens')
  // There is no estimate for these tokens, so a count that is missing is 0.
  const totalTokens = totalOf(reported ?? 0, inputTokens, outputTokens)!
  const isKnown = (reported ?? inputTokens ?? outputTokens) !== undefined
  const used: LlmTokens = {
    ...NO_TOKENS,
    inputTokens,
    outputTokens,
    totalTokens: isKnown ? totalTokens : undefined,
    providerInputTokens: inputTokens,
    providerTotalTokens: reported ?? totalOf(undefined, inputTokens, outputTokens),
  }
  readInputDetails(objectAt(usage, 'input_token_details'), used)
  readOutputDetails(objectAt(usage, 'output_token_details'), used)
  for (const name of TOKEN_NAMES) {
    const count = used[name]
    if (count !== undefined) facts[name] = (facts[name] ?? 0) + count
  }
  return isKnown
}

const TOKEN_NAMES = Object.keys(NO_TOKENS) as (keyof LlmTokens)[]
