import type {
  Message,
  RawContentBlockStartEvent,
  RawMessageDeltaEvent,
} from '@anthropic-ai/sdk/resources/messages/messages'
import type { AnswerError, AnswerSink, AnswerUsage, Citation, StopReason } from '../answer-sink.ts'
import type { AnswerContext } from '../dialect.ts'
import { formatError } from './errors.ts'
import { Ending, writeCallStart, writeCitation, writeHead } from './write-message.ts'

export function writeStream(context: AnswerContext, write: (events: string) => void): MessagesStreamWriter {
  return new MessagesStreamWriter(context, write)
}

type Kind = 'text' | 'thinking' | 'redacted' | 'call'
type Start = RawContentBlockStartEvent['content_block']

const TEXT: Start = { type: 'text', text: '', citations: null }
const THINKING: Start = { type: 'thinking', thinking: '', signature: '' }

/** UTF-16 units of held blocks. */
const MAX_HELD = 4 * 1024 * 1024
/** What a held delta needs besides its text. */
const DELTA = 16

/** A block that waits until another one is closed. */
interface Held {
  readonly number: number
  readonly kind: Kind
  readonly start: Start
  readonly deltas: string[]
  signature: string
  isClosed: boolean
}

/**
 * Writes an event stream of the messages API, in which blocks have numbers without gaps and never overlap. A block begins when the one before
 * it ends. Texts and thoughts end when something else begins, and go on in a new block; calls end when they are complete, and what begins
 * before is held.
 */
class MessagesStreamWriter implements AnswerSink {
  readonly #context: AnswerContext
  readonly #write: (events: string) => void
  readonly #ending = new Ending()
  /** Index of the open or last block. */
  #index = -1
  /** The reader's number of the open block. */
  #open: number | undefined
  #kind: Kind = 'text'
  /** Of the open block. Clients expect it whole. */
  #signature = ''
  #prefix = ''
  /** In the order in which they began. */
  #held: Held[] = []
  #heldLength = 0
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

  text(block: number, text: string): void {
    this.#delta(block, 'text', TEXT, `{"type":"text_delta","text":${JSON.stringify(text)}}`)
  }

  refusal(block: number, text: string): void {
    this.#ending.refuse()
    this.text(block, text)
  }

  thinking(block: number, text: string): void {
    this.#delta(block, 'thinking', THINKING, `{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`)
  }

  signature(block: number, text: string): void {
    const held = this.#enter(block, 'thinking', THINKING)
    if (held === undefined) this.#signature += text
    else held.signature += text
  }

  redacted(block: number, data: string): void {
    this.#enter(block, 'redacted', { type: 'redacted_thinking', data })
  }

  call(block: number, id: string, name: string): void {
    this.#enter(block, 'call', writeCallStart(id, name, this.#context))
  }

  arguments(block: number, text: string): void {
    if (text === '') return
    const delta = `{"type":"input_json_delta","partial_json":${JSON.stringify(text)}}`
    if (this.#open === block && this.#kind === 'call') this.#writeDelta(delta)
    else this.#holdDelta(this.#findHeld(block, 'call'), delta)
  }

  citation(block: number, citation: Citation): void {
    const written = writeCitation(citation)
    if (written === undefined) return
    this.#delta(block, 'text', TEXT, `{"type":"citations_delta","citation":${JSON.stringify(written)}}`)
  }

  close(block: number): void {
    const held = this.#held.findLast(({ number }) => number === block)
    if (held !== undefined) held.isClosed = true
    if (this.#open !== block) return
    this.#closeOpen()
    this.#release()
  }

  finish(reason: StopReason, stopSequence?: string): void {
    this.#ending.set(reason, stopSequence)
  }

  usage(usage: AnswerUsage): void {
    this.#ending.setUsage(usage)
  }

  fail(error: AnswerError): void {
    if (this.#isOver) return
    this.#event('error', formatError(error))
    this.#isOver = true
  }

  end(): void {
    if (this.#isOver) return
    const ending = { type: 'message_delta', delta: this.#ending.members, usage: this.#ending.deltaUsage } as const
    this.#event('message_delta', JSON.stringify(ending satisfies RawMessageDeltaEvent))
    this.#event('message_stop', '{"type":"message_stop"}')
    this.#isOver = true
  }

  /** Tells the client in a long silence that the connection lives. */
  ping(): void {
    this.#event('ping', '{"type":"ping"}')
  }

  #delta(block: number, kind: Kind, start: Start, delta: string): void {
    const held = this.#open === block && this.#kind === kind ? undefined : this.#enter(block, kind, start)
    if (held === undefined) this.#writeDelta(delta)
    else this.#holdDelta(held, delta)
  }

  #holdDelta(held: Held | undefined, delta: string): void {
    held?.deltas.push(delta)
    this.#hold(delta.length + DELTA)
  }

  #findHeld(block: number, kind: Kind): Held | undefined {
    return this.#held.findLast((each) => each.number === block && each.kind === kind && !each.isClosed)
  }

  #writeDelta(delta: string): void {
    if (!this.#isOver) this.#write(`${this.#prefix}${delta}}\n\n`)
  }

  /** Makes a block the open one. @returns where to put its contents if it must wait */
  #enter(block: number, kind: Kind, start: Start): Held | undefined {
    if (this.#open === block && this.#kind === kind) return undefined
    const waits = this.#held.length > 0 || (this.#open !== undefined && this.#kind === 'call')
    if (!waits) {
      this.#closeOpen()
      this.#begin(block, kind, start)
      return undefined
    }
    const known = this.#findHeld(block, kind)
    if (known !== undefined) return known
    const held: Held = { number: block, kind, start, deltas: [], signature: '', isClosed: false }
    this.#held.push(held)
    this.#hold(JSON.stringify(start).length + DELTA)
    return held
  }

  #hold(length: number): void {
    this.#heldLength += length
    if (this.#heldLength <= MAX_HELD) return
    const message = 'the calls of the response overlap too much to be translated'
    this.fail({ status: 502, type: undefined, message, code: undefined, param: undefined })
    this.#held = []
    this.#heldLength = 0
  }

  #begin(block: number, kind: Kind, start: Start): void {
    this.#open = block
    this.#kind = kind
    this.#index++
    this.#prefix = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#index},"delta":`
    const event = `{"type":"content_block_start","index":${this.#index},"content_block":${JSON.stringify(start)}}`
    this.#event('content_block_start', event)
  }

  #closeOpen(): void {
    if (this.#open === undefined) return
    if (this.#signature !== '') {
      this.#writeDelta(`{"type":"signature_delta","signature":${JSON.stringify(this.#signature)}}`)
    }
    this.#signature = ''
    this.#open = undefined
    this.#event('content_block_stop', `{"type":"content_block_stop","index":${this.#index}}`)
  }

  /** Writes what waited, up to a call that is not complete. */
  #release(): void {
    while (this.#held.length > 0 && (this.#open === undefined || this.#kind !== 'call')) {
      const { number, kind, start, deltas, signature, isClosed } = this.#held.shift()!
      this.#closeOpen()
      this.#begin(number, kind, start)
      for (const delta of deltas) this.#writeDelta(delta)
      this.#signature = signature
      if (isClosed) this.#closeOpen()
    }
    if (this.#held.length === 0) this.#heldLength = 0
  }

  #event(name: string, data: string): void {
    if (!this.#isOver) this.#write(`event: ${name}\ndata: ${data}\n\n`)
  }
}
