import { Pace, type Steps } from '#base/in-slices.ts'
import type { AnswerSink, Citation, StopReason } from '../../chat/answer-sink.ts'
import { WORK_PER_BLOCK } from '../../chat/dialect.ts'
import { STOP_REASONS } from '../../chat/stop-reasons.ts'
import { countAt, elementsOf, memberOf, textAt } from '../../json/read-value.ts'
import { CallNumbers } from '../../texts/call-numbers.ts'
import { CallBlocks } from './call-blocks.ts'
import { readThoughts } from './thoughts.ts'

type Kind = 'text' | 'refusal' | 'thinking'

/**
 * Tells the contents of a message, which come whole or in pieces. A message has one list of calls and one text of each kind; what follows
 * something of another kind is a new block.
 */
export class MessageBlocks {
  readonly #sink: AnswerSink
  readonly #calls: CallBlocks
  readonly #numbers = new CallNumbers()
  #blocks = 0
  #kind: Kind | undefined
  #open = 0

  constructor(sink: AnswerSink) {
    this.#sink = sink
    this.#calls = new CallBlocks(sink, () => this.#blocks++)
  }

  /** What a chunk adds to a message. */
  add(delta: unknown): void {
    this.#addTexts(delta)
    for (const call of callsOf(delta)) this.#call(call, this.#numbers.of(call))
  }

  /** A whole message. Yields between calls. */
  *addAll(message: unknown): Steps<void> {
    this.#addTexts(message)
    const pace = new Pace()
    for (const [position, call] of callsOf(message).entries()) {
      this.#call(call, position)
      if (pace.after(WORK_PER_BLOCK)) yield
    }
  }

  #addTexts(message: unknown): void {
    this.#thoughts(message)
    this.#content(memberOf(message, 'content'))
    this.#text('refusal', textAt(message, 'refusal'))
    for (const annotation of elementsOf(memberOf(message, 'annotations'))) this.#cite(annotation)
  }

  finish(word: string): void {
    this.#leave()
    this.#calls.close()
    this.#sink.finish(this.#reason(STOP_REASONS.completions.read(word)))
  }

  /** Some providers end an answer with calls as if it had none, and the API itself does if a call was forced. */
  #reason(reason: StopReason): StopReason {
    return reason === 'end' && this.#calls.hasCalls ? 'calls' : reason
  }

  #thoughts(message: unknown): void {
    const text = textAt(message, 'reasoning_content') ?? textAt(message, 'reasoning')
    const signature = textAt(message, 'reasoning_signature')
    if (!signature) return this.#text('thinking', text)
    // Our own form, if the provider is a gateway as well.
    const thoughts = readThoughts(text ?? '', signature)
    for (const thought of thoughts) {
      if (thought.kind === 'redacted') {
        this.#leave()
        this.#sink.redacted(this.#blocks++, thought.data)
        continue
      }
      if (thoughts.length > 1) this.#leave()
      this.#text('thinking', thought.text)
      this.#sink.signature(this.#enter('thinking'), thought.signature)
    }
  }

  /** A text, or a list of parts. */
  #content(content: unknown): void {
    if (typeof content === 'string') return this.#text('text', content)
    for (const part of elementsOf(content)) {
      const thinking = memberOf(part, 'thinking')
      if (thinking === undefined) this.#text('text', textAt(part, 'text'))
      else if (typeof thinking === 'string') this.#text('thinking', thinking)
      else for (const piece of elementsOf(thinking)) this.#text('thinking', textAt(piece, 'text'))
    }
  }

  #text(kind: Kind, text: string | undefined): void {
    if (text) this.#sink[kind](this.#enter(kind), text)
  }

  #cite(annotation: unknown): void {
    const citation = memberOf(annotation, 'url_citation')
    if (citation !== undefined) this.#sink.citation(this.#enter('text'), readCitation(citation))
  }

  #call(call: unknown, number: number): void {
    this.#leave()
    const custom = memberOf(call, 'custom')
    const called = memberOf(call, 'function') ?? custom
    const vendor = memberOf(memberOf(call, 'extra_content'), 'google')
    this.#calls.add({
      number,
      id: textAt(call, 'id'),
      name: textAt(called, 'name'),
      arguments: argumentsIn(memberOf(called, custom === undefined ? 'arguments' : 'input')),
      isCustom: custom !== undefined,
      signature: textAt(vendor, 'thought_signature'),
    })
  }

  /** The block of that kind. */
  #enter(kind: Kind): number {
    if (this.#kind === kind) return this.#open
    this.#leave()
    this.#kind = kind
    this.#open = this.#blocks++
    return this.#open
  }

  #leave(): void {
    if (this.#kind !== undefined) this.#sink.close(this.#open)
    this.#kind = undefined
  }
}

/** The calls of a message; the last one may be in the form of the first version of the API. */
function callsOf(message: unknown): readonly unknown[] {
  const calls = elementsOf(memberOf(message, 'tool_calls'))
  const called = memberOf(message, 'function_call') ?? undefined
  return called === undefined ? calls : [...calls, { function: called, index: 0 }]
}

function readCitation(citation: unknown): Citation {
  return {
    url: textAt(citation, 'url'),
    title: textAt(citation, 'title'),
    text: undefined,
    start: countAt(citation, 'start_index'),
    end: countAt(citation, 'end_index'),
  }
}

/** Some servers send the object itself instead of its JSON as a string. */
function argumentsIn(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return typeof value === 'string' ? value : undefined
}
