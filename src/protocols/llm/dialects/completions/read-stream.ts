import type { AnswerSink } from '../../chat/answer-sink.ts'
import type { StreamLimits, StreamReader } from '../../chat/dialect.ts'
import { readReportedError } from '../../chat/read-error.ts'
import { countAt, elementsOf, memberOf, objectAt, textAt } from '../../json/read-value.ts'
import { EventReader } from '../../sse/event-reader.ts'
import { MessageBlocks } from './message-blocks.ts'
import { readUsage } from './usage.ts'

const END_MARK = '[DONE]'

export function readStream(sink: AnswerSink, limits: StreamLimits): StreamReader {
  return new CompletionsStreamReader(sink, limits)
}

/** Reads a stream of chat completion chunks. Only the first choice counts: the gateway asks for one. */
class CompletionsStreamReader extends EventReader {
  readonly #message: MessageBlocks
  #serviceTier: string | undefined
  #isStarted = false

  constructor(sink: AnswerSink, limits: StreamLimits) {
    super(sink, limits)
    this.#message = new MessageBlocks(sink)
  }

  protected override isEndMark(data: string): boolean {
    if (!data.startsWith(END_MARK)) return false
    // Without any choice the stream is empty, whatever its end.
    if (this.#isStarted) this.#message.finish('stop')
    this.complete()
    return true
  }

  protected override event(name: string, chunk: unknown): void {
    const isError = name === 'error' || (memberOf(chunk, 'error') ?? undefined) !== undefined
    if (isError) this.fail(readReportedError(chunk))
    else this.#chunk(chunk)
  }

  #chunk(chunk: unknown): void {
    this.#serviceTier = textAt(chunk, 'service_tier') ?? this.#serviceTier
    const choice = elementsOf(memberOf(chunk, 'choices')).find((each) => (countAt(each, 'index') ?? 0) === 0)
    // Before the first choice, some providers send facts of their filters, without an id.
    if (choice !== undefined) this.#choice(choice, chunk)
    const usage = objectAt(chunk, 'usage')
    if (usage !== undefined) this.sink.usage(readUsage(usage, this.#serviceTier))
  }

  #choice(choice: unknown, chunk: unknown): void {
    if (!this.#isStarted) {
      this.#isStarted = true
      this.sink.start(textAt(chunk, 'id') ?? '', textAt(chunk, 'model') ?? '')
    }
    this.#message.add(memberOf(choice, 'delta'))
    const reason = textAt(choice, 'finish_reason')
    if (reason) this.#message.finish(reason)
  }
}
