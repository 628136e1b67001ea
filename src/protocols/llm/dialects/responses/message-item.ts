import type {
  ResponseOutputMessage,
  ResponseOutputRefusal,
  ResponseOutputText,
} from 'openai/resources/responses/responses'
import type { Citation } from '../../chat/answer-sink.ts'
import { Annotations } from '../completions/citations.ts'
import type { ItemPlace, OutputItem } from './output-item.ts'

/** Texts that follow each other are one part: providers divide a text where they cite. */
export class MessageItem implements OutputItem {
  readonly #place: ItemPlace
  readonly #parts: (TextPart | RefusalPart)[] = []

  constructor(place: ItemPlace) {
    this.#place = place
    const item: ResponseOutputMessage = {
      id: place.id,
      type: 'message',
      status: 'in_progress',
      content: [],
      role: 'assistant',
    }
    place.events?.emit({ type: 'response.output_item.added', output_index: place.index, item })
  }

  text(text: string): void {
    this.#text.add(text)
  }

  refusal(text: string): void {
    const last = this.#parts.at(-1)
    const part = last instanceof RefusalPart ? last : this.#begin((index) => new RefusalPart(this.#place, index))
    part.add(text)
  }

  /** It may come before its text. */
  citation(citation: Citation): void {
    this.#text.cite(citation)
  }

  /** A block of its text is complete. */
  closeBlock(): void {
    const last = this.#parts.at(-1)
    if (last instanceof TextPart) last.annotate()
  }

  finish(): void {
    this.#parts.at(-1)?.finish()
  }

  write(status: 'completed' | 'incomplete'): ResponseOutputMessage {
    const content = this.#parts.map((part) => part.write())
    return { id: this.#place.id, type: 'message', status, content, role: 'assistant' }
  }

  get #text(): TextPart {
    const last = this.#parts.at(-1)
    return last instanceof TextPart ? last : this.#begin((index) => new TextPart(this.#place, index))
  }

  /** A part says that it is there when it is built: the one before must have ended. */
  #begin<New extends TextPart | RefusalPart>(build: (index: number) => New): New {
    this.#parts.at(-1)?.finish()
    const part = build(this.#parts.length)
    this.#parts.push(part)
    return part
  }
}

/** The members that events about a part have. */
function partPlace({ id, index }: ItemPlace, contentIndex: number) {
  return { item_id: id, output_index: index, content_index: contentIndex }
}

class TextPart {
  readonly #place: ItemPlace
  readonly #about: ReturnType<typeof partPlace>
  readonly #delta: ((text: string) => void) | undefined
  readonly #annotations = new Annotations(undefined)
  readonly #annotated: ResponseOutputText.URLCitation[] = []
  readonly #texts: string[] = []

  constructor(place: ItemPlace, contentIndex: number) {
    this.#place = place
    this.#about = partPlace(place, contentIndex)
    place.events?.emit({ type: 'response.content_part.added', ...this.#about, part: this.write() })
    this.#delta = place.events?.deltas({ type: 'response.output_text.delta', ...this.#about, logprobs: [] })
  }

  add(text: string): void {
    this.#annotations.text(text)
    this.#texts.push(text)
    this.#delta?.(text)
  }

  cite(citation: Citation): void {
    this.#annotations.add(citation)
  }

  /** Citations are about the block that ends. */
  annotate(): void {
    for (const { url_citation } of this.#annotations.take()) {
      const annotation: ResponseOutputText.URLCitation = { type: 'url_citation', ...url_citation }
      this.#place.events?.emit({
        type: 'response.output_text.annotation.added',
        ...this.#about,
        annotation_index: this.#annotated.length,
        annotation,
      })
      this.#annotated.push(annotation)
    }
  }

  finish(): void {
    const { events } = this.#place
    if (events === undefined) return
    const part = this.write()
    events.emit({ type: 'response.output_text.done', ...this.#about, text: part.text, logprobs: [] })
    events.emit({ type: 'response.content_part.done', ...this.#about, part })
  }

  write(): ResponseOutputText {
    return { type: 'output_text', text: this.#texts.join(''), annotations: this.#annotated, logprobs: [] }
  }
}

class RefusalPart {
  readonly #place: ItemPlace
  readonly #about: ReturnType<typeof partPlace>
  readonly #delta: ((text: string) => void) | undefined
  readonly #texts: string[] = []

  constructor(place: ItemPlace, contentIndex: number) {
    this.#place = place
    this.#about = partPlace(place, contentIndex)
    place.events?.emit({ type: 'response.content_part.added', ...this.#about, part: this.write() })
    this.#delta = place.events?.deltas({ type: 'response.refusal.delta', ...this.#about })
  }

  add(text: string): void {
    this.#texts.push(text)
    this.#delta?.(text)
  }

  finish(): void {
    const { events } = this.#place
    if (events === undefined) return
    const part = this.write()
    events.emit({ type: 'response.refusal.done', ...this.#about, refusal: part.refusal })
    events.emit({ type: 'response.content_part.done', ...this.#about, part })
  }

  write(): ResponseOutputRefusal {
    return { type: 'refusal', refusal: this.#texts.join('') }
  }
}
