import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Answer } from '#exchange/outcome.ts'
import { afterwards } from '#exchange/step.ts'
import type { TokenCounter, Vocabulary } from '#exchange/token-counter.ts'
import { Head } from '#net/http/head.ts'
import type { CountablePrompt } from '../dialects/messages/countable-prompt.ts'
import { estimateTokens } from '../tokens/estimate-tokens.ts'

/** A token count that the gateway makes itself (decision B36). */
export interface LocalCount {
  readonly kind: 'count'
  readonly prompt: CountablePrompt
  readonly vocabulary: Vocabulary
  readonly facts: LlmFacts
}

/** How many characters of a longer prompt are counted, in parts at equal distances. */
const MAX_COUNTED = 200_000
const PARTS = 20

/** Longest piece that is counted at a time: the time grows with the square of the length of text without spaces. */
const MAX_PIECE = 1000

/**
 * Responds to a request for a token count. If the counter has no time, the tokens are estimated from the lengths of words, and the header
 * says so.
 */
export function answerCount(count: LocalCount, exchange: Exchange, counter: TokenCounter): Answer | Promise<Answer> {
  const { prompt, vocabulary, facts } = count
  exchange.llm = facts
  const sample = sampleOf(prompt.texts)
  const counted = counter.count(vocabulary, sample.texts.flatMap(divide))
  const finish = (tokens: number | undefined) =>
    answer(count, tokens === undefined ? undefined : tokens * sample.weight)
  return counted === undefined ? finish(undefined) : afterwards(exchange, counted, finish)
}

function answer({ prompt, facts, vocabulary }: LocalCount, counted: number | undefined): Answer {
  const text = counted ?? prompt.texts.reduce((sum, each) => sum + estimateTokens(each), 0)
  const tokens = Math.ceil(text) + prompt.otherTokens
  facts.countTokens = tokens
  facts.countVocabulary = counted === undefined ? 'none' : vocabulary
  const head = Head.response(200)
  head.set('content-type', 'application/json')
  head.set('x-token-count', counted === undefined ? 'estimated;vocabulary=none' : 'estimated')
  return { kind: 'answer', head, body: `{"input_tokens":${tokens}}` }
}

/** The texts that are counted, and the factor between their tokens and those of the whole prompt. */
interface Sample {
  readonly texts: readonly string[]
  readonly weight: number
}

function sampleOf(texts: readonly string[]): Sample {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  if (length <= MAX_COUNTED) return { texts, weight: 1 }
  const whole = texts.join('\n')
  const part = MAX_COUNTED / PARTS
  const distance = (whole.length - part) / (PARTS - 1)
  const parts = Array.from({ length: PARTS }, (_, i) => {
    const start = Math.floor(i * distance)
    return whole.slice(start, start + part)
  })
  return { texts: parts, weight: whole.length / MAX_COUNTED }
}

/** Divides a text before spaces, where vocabularies divide it anyway, or, where there are none, anywhere. */
function divide(text: string): string[] {
  const pieces: string[] = []
  let start = 0
  while (text.length - start > MAX_PIECE) {
    const end = start + endOfPiece(text.slice(start, start + MAX_PIECE + 1))
    pieces.push(text.slice(start, end))
    start = end
  }
  pieces.push(text.slice(start))
  return pieces
}

/** @param window a piece, and the character after it */
function endOfPiece(window: string): number {
  const space = window.lastIndexOf(' ')
  if (space > 0) return space
  const isPair = (window.charCodeAt(MAX_PIECE) & 0xfc00) === 0xdc00
  return isPair ? MAX_PIECE - 1 : MAX_PIECE
}
