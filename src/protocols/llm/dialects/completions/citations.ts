import type { ChatCompletionMessage } from 'openai/resources/chat/completions'
import type { AnswerRoom } from '../../chat/answer-room.ts'
import { type Citation, textOf } from '../../chat/answer-sink.ts'

export type Annotation = ChatCompletionMessage.Annotation

/** More in one block are dropped. */
const MAX_CITATIONS = 1000

/**
 * Makes annotations of the citations of texts, with positions in the whole content. A citation without positions is about all of its block.
 * The API has no form for those without a URL.
 */
export class Annotations {
  /** Length of all texts so far. */
  #length = 0
  #blockStart = 0
  #citations: Citation[] = []
  readonly #room: AnswerRoom | undefined

  constructor(room: AnswerRoom | undefined) {
    this.#room = room
  }

  text(text: string): void {
    this.#length += text.length
  }

  add(citation: Citation): void {
    if (citation.url === undefined || this.#citations.length >= MAX_CITATIONS) return
    this.#citations.push(citation)
    this.#room?.take(textOf(citation).length)
  }

  /** @returns the annotations of the block that ends */
  take(): readonly Annotation[] {
    const [start, end] = [this.#blockStart, this.#length]
    const annotations = this.#citations.map((citation): Annotation => {
      const url_citation = {
        end_index: citation.end === undefined ? end : start + citation.end,
        start_index: start + (citation.start ?? 0),
        title: citation.title ?? '',
        url: citation.url ?? '',
      }
      return { type: 'url_citation', url_citation }
    })
    this.#blockStart = end
    for (const citation of this.#citations) this.#room?.give(textOf(citation).length, 1)
    this.#citations = []
    return annotations
  }
}
