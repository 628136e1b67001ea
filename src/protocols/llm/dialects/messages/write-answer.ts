import type { ContentBlock, Message, TextCitation } from '@anthropic-ai/sdk/resources/messages/messages'
import { parseJson } from '#base/parse-json.ts'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { encode } from '../../json/splice.ts'
import { asIs, writeJson } from '../../json/write-json.ts'
import { formatError } from './errors.ts'
import { Ending, writeCallStart, writeCitation, writeHead, writeSignature, writeText } from './write-message.ts'

export function writeAnswer(context: AnswerContext, done: (body: Uint8Array) => void): AnswerSink {
  return new MessageWriter(context, done)
}

interface Block {
  readonly kind: 'text' | 'thinking' | 'redacted' | 'call'
  readonly id: string
  readonly name: string
  readonly texts: string[]
  readonly citations: TextCitation[]
  signature: string
}

/** Writes a message of the messages API. */
class MessageWriter implements AnswerSink {
  readonly #context: AnswerContext
  readonly #done: (body: Uint8Array) => void
  readonly #blocks = new Map<number, Block>()
  readonly #ending = new Ending()
  #head: ReturnType<typeof writeHead> | undefined
  #error: AnswerError | undefined

  constructor(context: AnswerContext, done: (body: Uint8Array) => void) {
    this.#context = context
    this.#done = done
  }

  start(id: string, model: string): void {
    this.#head = writeHead(id, model, this.#context)
  }

  text(block: number, text: string): void {
    this.#block(block, 'text').texts.push(text)
  }

  refusal(block: number, text: string): void {
    this.#ending.refuse()
    this.text(block, text)
  }

  thinking(block: number, text: string): void {
    this.#block(block, 'thinking').texts.push(text)
  }

  signature(block: number, text: string): void {
    this.#block(block, 'thinking').signature += text
  }

  redacted(block: number, data: string): void {
    this.#block(block, 'redacted').texts.push(data)
  }

  call(block: number, id: string, name: string): void {
    this.#block(block, 'call', id, name)
  }

  arguments(block: number, text: string): void {
    this.#block(block, 'call').texts.push(text)
  }

  citation(block: number, citation: Citation): void {
    const written = writeCitation(citation)
    if (written !== undefined) this.#block(block, 'text').citations.push(written)
  }

  close(): void {}

  finish(reason: StopReason, stopSequence?: string): void {
    this.#ending.set(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    this.#ending.setUsage(usage)
  }

  fail(error: AnswerError): void {
    this.#error = error
  }

  end(): void {
    this.#done(this.#error === undefined ? writeJson(this.#message()) : encode(formatError(this.#error)))
  }

  #block(number: number, kind: Block['kind'], id = '', name = ''): Block {
    let block = this.#blocks.get(number)
    if (block === undefined) {
      block = { kind, id, name, texts: [], citations: [], signature: '' }
      this.#blocks.set(number, block)
    }
    return block
  }

  #message(): Message {
    return {
      ...(this.#head ?? writeHead('', '', this.#context)),
      content: [...this.#blocks.values()].map((block) => this.#content(block)),
      ...this.#ending.members,
      usage: this.#ending.usage,
      diagnostics: null,
    }
  }

  #content({ kind, id, name, texts, citations, signature }: Block): ContentBlock {
    const text = texts.join('')
    switch (kind) {
      case 'text':
        return writeText(text, citations)
      case 'thinking':
        return { type: 'thinking', thinking: text, signature: writeSignature(signature, this.#context) }
      case 'redacted':
        return { type: 'redacted_thinking', data: text }
      case 'call':
        return { ...writeCallStart(id, name, this.#context), input: inputOf(text) }
    }
  }
}

/** The API takes only objects as input of a call. What else the model wrote becomes a member of one. */
function inputOf(json: string): unknown {
  if (json === '') return {}
  try {
    const value: unknown = parseJson(json)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? asIs<object>(encode(json)) : { input: asIs<unknown>(encode(json)) }
  } catch {
    return { input: json }
  }
}
