import { Exchange } from '#exchange/exchange.ts'
import { reject } from '#exchange/outcome.ts'
import { BodyClaim, BodyMemory } from '#net/body/body-memory.ts'
import { Head } from '#net/http/head.ts'
import { type ChatType, FORMATS } from '#protocols/llm/dialects/index.ts'
import type { RegexGuard } from '#protocols/llm/guards/guard.ts'
import { guardRequest } from '#protocols/llm/guards/guard-request.ts'
import { compileRules } from '#protocols/llm/guards/rules/compile-rules.ts'
import { GuardedStream } from '#protocols/llm/guards/stream/guarded-stream.ts'
import { inOneTurn } from '#test/support/in-one-turn.ts'
import { LOCAL_PEER } from '#test/support/local-peer.ts'
import { Nowhere } from '../nowhere.ts'

/** Guards on whole bodies and streams: reading, texts, rules and writing. */

export type GuardSpec = Parameters<typeof compileRules>[0]

const encoder = new TextEncoder()

export function guardOf(phase: 'request' | 'response', spec: GuardSpec): RegexGuard {
  const rules = compileRules(spec, (path, message) => {
    throw new Error(path + message)
  })
  return { phase, index: 0, kind: 'regex', rules, rejects: false, refusal: reject('prompt-guard-rejected') }
}

export function exchange(): Exchange {
  const made = new Exchange(Head.request('POST', '/'), LOCAL_PEER)
  made.response = Head.response(200)
  made.response.set('content-type', 'text/event-stream')
  return made
}

/** A request of chat completions with a text of that length. @returns what guards it */
export function guardedRequest(spec: GuardSpec, content: string): () => unknown {
  const guards = { request: [guardOf('request', spec)], response: [], closed: false as const }
  const messages = [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content },
  ]
  const body = encoder.encode(JSON.stringify({ model: 'gpt-5.1', temperature: 0.5, messages }))
  return () => inOneTurn(() => guardRequest(guards, 'Completions', body, exchange()))
}

const OBFUSCATED = 'a1B2c3D4e5F6g7H8'

/** An event of each API with a word, as the vendors write it. */
const EVENTS: Readonly<Record<ChatType, (word: string, index: number) => string>> = {
  Completions: (content, index) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'gpt-5.1', service_tier: 'default', system_fingerprint: 'fp_1', choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }], obfuscation: OBFUSCATED.slice(index % 12) })}\n\n`,
  Messages: (text) =>
    `event: content_block_delta\ndata: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })}\n\n`,
  Responses: (delta, index) =>
    `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', sequence_number: index, item_id: 'msg_1', output_index: 0, content_index: 0, delta, logprobs: [], obfuscation: OBFUSCATED.slice(index % 12) })}\n\n`,
}

/** A stream of words, one in each event. @returns what guards it */
export function guardedStream(spec: GuardSpec, format: ChatType, words: readonly string[]): () => void {
  const guards = [guardOf('response', spec)]
  const pieces = words.map((word, index) => Buffer.from(EVENTS[format](word, index)))
  const memory = new BodyMemory(2 ** 26)
  return () => {
    const claim = new BodyClaim(memory)
    const stream = FORMATS[format].stream()
    const options = { guards, format, stream, exchange: exchange(), claim, maxEventBytes: 2 ** 21, kept: undefined }
    const sink = new GuardedStream(undefined, options).into(new Nowhere())
    inOneTurn(() => {
      for (const piece of pieces) sink.bytes(piece, 0, piece.length)
      sink.end()
    })
    claim.release()
  }
}
