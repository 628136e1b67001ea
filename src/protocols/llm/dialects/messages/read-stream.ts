import { NO_TOKENS } from '#exchange/llm-facts.ts'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import type { StreamLimits, StreamReader } from '../../chat/dialect.ts'
import { readReportedError } from '../../chat/read-error.ts'
import { STOP_REASONS } from '../../chat/stop-reasons.ts'
import { countAt, elementsOf, memberOf, objectAt, textAt } from '../../json/read-value.ts'
import { EventReader } from '../../sse/event-reader.ts'
import { readCitation } from './read-blocks.ts'
import { MessagesUsage } from './response.ts'

const NONE = -1

export function readStream(sink: AnswerSink, limits: StreamLimits): StreamReader {
  return new MessagesStreamReader(sink, limits)
}

/** Reads an event stream of the messages API. */
class MessagesStreamReader extends EventReader {
  readonly #usage = new MessagesUsage()
  readonly #counts = { ...NO_TOKENS, serviceTier: undefined as string | undefined }
  #isFinished = false
  /** The last block, if it is of a tool that the provider runs itself. */
  #hosted = NONE
  /** The last block, if it is a call without arguments so far. */
  #call = NONE
  /** What its beginning said of them. */
  #input!: string
  #lastBlock = NONE

  protected override event(name: string, event: unknown): void {
    const index = countAt(event, 'index') ?? 0
    const type = textAt(event, 'type') ?? name
    switch (type) {
      case 'content_block_delta':
        return this.#delta(index, memberOf(event, 'delta'))
      case 'content_block_start':
        return this.#begin(index, memberOf(event, 'content_block'))
      case 'content_block_stop':
        return this.#stop(index)
      case 'message_start':
        return this.#start(memberOf(event, 'message'))
      case 'message_delta':
        return this.#finish(event)
      case 'message_stop':
        if (!this.#isFinished) this.sink.finish('end')
        return this.complete()
      default:
        // A proxy in front of the provider may leave out the type, or the name.
        if ([type, name].includes('error') || (memberOf(event, 'error') ?? undefined) !== undefined)
          this.fail(readReportedError(event))
    }
  }

  #start(message: unknown): void {
    this.sink.start(textAt(message, 'id') ?? '', textAt(message, 'model') ?? '')
    this.#count(memberOf(message, 'usage'))
  }

  #begin(index: number, block: unknown): void {
    this.#lastBlock = index
    switch (textAt(block, 'type')) {
      case 'text':
        this.#text(index, textAt(block, 'text'))
        for (const citation of elementsOf(memberOf(block, 'citations')))
          this.sink.citation(index, readCitation(citation))
        break
      case 'thinking':
        this.#thinking(index, textAt(block, 'thinking'))
        this.#signature(index, textAt(block, 'signature'))
        break
      case 'redacted_thinking':
        this.sink.redacted(index, textAt(block, 'data') ?? '')
        break
      case 'tool_use':
        this.#call = index
        this.#input = JSON.stringify(objectAt(block, 'input') ?? {})
        this.sink.call(index, textAt(block, 'id') ?? '', textAt(block, 'name') ?? '')
        break
      case 'server_tool_use':
      case 'mcp_tool_use':
        this.#hosted = index
    }
  }

  #delta(index: number, delta: unknown): void {
    switch (textAt(delta, 'type')) {
      case 'text_delta':
        return this.#text(index, textAt(delta, 'text'))
      case 'input_json_delta':
        return this.#arguments(index, textAt(delta, 'partial_json'))
      case 'thinking_delta':
        return this.#thinking(index, textAt(delta, 'thinking'))
      case 'signature_delta':
        return this.#signature(index, textAt(delta, 'signature'))
      case 'citations_delta':
        return this.sink.citation(index, readCitation(memberOf(delta, 'citation')))
    }
  }

  #text(index: number, text: string | undefined): void {
    if (text) this.sink.text(index, text)
  }

  #thinking(index: number, text: string | undefined): void {
    if (text) this.sink.thinking(index, text)
  }

  #signature(index: number, text: string | undefined): void {
    if (text) this.sink.signature(index, text)
  }

  #arguments(index: number, text: string | undefined): void {
    if (!text || index === this.#hosted) return
    if (index === this.#call) this.#call = NONE
    this.sink.arguments(index, text)
  }

  #stop(index: number): void {
    if (index === this.#call) this.#arguments(index, this.#input)
    this.sink.close(index)
  }

  #finish(event: unknown): void {
    this.#count(memberOf(event, 'usage'))
    const delta = memberOf(event, 'delta')
    const reason = textAt(delta, 'stop_reason')
    if (reason === undefined) return
    const refused = textAt(memberOf(delta, 'stop_details'), 'explanation')
    if (reason === 'refusal' && refused) this.sink.refusal(this.#lastBlock + 1, refused)
    this.#isFinished = true
    this.sink.finish(STOP_REASONS.messages.read(reason), textAt(delta, 'stop_sequence'))
  }

  #count(usage: unknown): void {
    if (usage === undefined) return
    this.#usage.read(usage, this.#counts)
    this.sink.usage({ ...this.#counts })
  }
}
