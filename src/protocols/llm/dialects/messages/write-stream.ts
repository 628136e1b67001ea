import type {
  Message,
  RawContentBlockStartEvent,
  RawMessageDeltaEvent,
} from '@anthropic-ai/sdk/resources/messages/messages'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '../../chat/answer-sink.ts'
import type { AnswerContext } from '../../chat/dialect.ts'
import { SequentialAnswer } from '../../chat/sequential-answer.ts'
import { formatError } from './errors.ts'
import { Ending, writeCallStart, writeCitation, writeHead, writeSignature, writeText } from './write-message.ts'

/** Writes an event stream of the messages API, in which blocks have numbers without gaps and never overlap. */
export function writeStream(context: AnswerContext, write: (events: string) => void): AnswerSink {
  return new SequentialAnswer(new MessagesStreamWriter(context, write), context.room)
}

type Kind = 'text' | 'thinking' | 'redacted' | 'call'
type Start = RawContentBlockStartEvent['content_block']

const TEXT: Start = writeText('', [])
const THINKING: Start = { type: 'thinking', thinking: '', signature: '' }

/** Writes blocks that do not overlap. */
class MessagesStreamWriter implements AnswerSink {
  readonly #context: AnswerContext
  readonly #write: (events: string) => void
  readonly #ending = new Ending()
  /** Index of the open or last block. */
  #index = -1
  /** Of the open block. */
  #kind: Kind | undefined
  /** Of the open block. Clients expect it whole. */
  #signature = ''
  #signaturePieces = 0
  #prefix = ''
  #isOver = false

  constructor(context: AnswerContext, write: (events: string) => void) {
    this.#context = context
    this.#write = write
  }

  start(id: string, model: string): void {
    const message = {
      ...writeHead(id, model, this.#context),
      content: [],
      ...this.#ending.members,
      stop_reason: null,
      usage: this.#ending.usage,
      diagnostics: null,
    } satisfies Message
    this.#event('message_start', JSON.stringify({ type: 'message_start', message }))
  }

  text(_block: number, text: string): void {
    this.#enter('text', TEXT)
    this.#delta(`{"type":"text_delta","text":${JSON.stringify(text)}}`)
  }

  refusal(block: number, text: string): void {
    this.#ending.refuse()
    this.text(block, text)
  }

  thinking(_block: number, text: string): void {
    this.#enter('thinking', THINKING)
    this.#delta(`{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`)
  }

  signature(_block: number, text: string): void {
    this.#enter('thinking', THINKING)
    this.#signature += text
    this.#signaturePieces++
    this.#context.room?.take(text.length)
  }

  redacted(_block: number, data: string): void {
    this.#enter('redacted', { type: 'redacted_thinking', data })
  }

  call(_block: number, id: string, name: string): void {
    this.#enter('call', writeCallStart(id, name, this.#context))
  }

  arguments(_block: number, text: string): void {
    if (text !== '') this.#delta(`{"type":"input_json_delta","partial_json":${JSON.stringify(text)}}`)
  }

  citation(_block: number, citation: Citation): void {
    const written = writeCitation(citation)
    if (written === undefined) return
    this.#enter('text', TEXT)
    this.#delta(`{"type":"citations_delta","citation":${JSON.stringify(written)}}`)
  }

  close(): void {
    if (this.#kind === undefined) return
    if (this.#signature !== '') {
      const signature = writeSignature(this.#signature, this.#context)
      this.#delta(`{"type":"signature_delta","signature":${JSON.stringify(signature)}}`)
    }
    this.#context.room?.give(this.#signature.length, this.#signaturePieces)
    this.#signature = ''
    this.#signaturePieces = 0
    this.#kind = undefined
    this.#event('content_block_stop', `{"type":"content_block_stop","index":${this.#index}}`)
  }

  finish(reason: StopReason, stopSequence?: string): void {
    this.#ending.set(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    this.#ending.setUsage(usage)
  }

  fail(error: AnswerError): void {
    this.#event('error', formatError(error))
    this.#isOver = true
  }

  end(): void {
    const ending = { type: 'message_delta', delta: this.#ending.members, usage: this.#ending.deltaUsage } as const
    this.#event('message_delta', JSON.stringify(ending satisfies RawMessageDeltaEvent))
    this.#event('message_stop', '{"type":"message_stop"}')
    this.#isOver = true
  }

  /** Begins a block, unless it is open. */
  #enter(kind: Kind, start: Start): void {
    if (this.#kind === kind) return
    this.close()
    this.#kind = kind
    this.#index++
    this.#prefix = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":`
    const event = `{"type":"content_block_start","index":${this.#index},"content_block":${JSON.stringify(start)}}`
    this.#event('content_block_start', event)
  }

  #delta(delta: string): void {
    this.#write(`${this.#prefix}${delta}}\n\n`)
  }

  #event(name: string, data: string): void {
    if (!this.#isOver) this.#write(`event: ${name}\ndata: ${data}\n\n`)
  }
}
