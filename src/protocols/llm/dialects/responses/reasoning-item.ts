import type { ResponseReasoningItem } from 'openai/resources/responses/responses'
import { tagSecret } from '../../chat/tagged-secrets.ts'
import type { ItemPlace, OutputItem } from './output-item.ts'

/** A thought of the model: its text as a summary, and what only its provider understands as encrypted content. */
export class ReasoningItem implements OutputItem {
  /** The reader's number. */
  readonly block: number
  readonly #place: ItemPlace
  readonly #provider: string
  readonly #texts: string[] = []
  #delta: ((text: string) => void) | undefined
  #signature = ''
  #redacted = ''

  constructor(place: ItemPlace, block: number, provider: string) {
    this.#place = place
    this.block = block
    this.#provider = provider
    const { id, index, events } = place
    events?.emit({
      type: 'response.output_item.added',
      output_index: index,
      item: { id, type: 'reasoning', summary: [] },
    })
  }

  text(text: string): void {
    if (this.#texts.length === 0) this.#begin()
    this.#texts.push(text)
    this.#delta?.(text)
  }

  /** In pieces. */
  signature(text: string): void {
    this.#signature += text
  }

  redacted(data: string): void {
    this.#redacted += data
  }

  finish(): void {
    const { events } = this.#place
    if (events === undefined || this.#texts.length === 0) return
    const text = this.#texts.join('')
    events.emit({ type: 'response.reasoning_summary_text.done', ...this.#about, text })
    events.emit({ type: 'response.reasoning_summary_part.done', ...this.#about, part: { type: 'summary_text', text } })
  }

  write(): ResponseReasoningItem {
    const encrypted = this.#encrypted
    return {
      id: this.#place.id,
      type: 'reasoning',
      summary: this.#texts.length === 0 ? [] : [{ type: 'summary_text', text: this.#texts.join('') }],
      ...(encrypted !== undefined && { encrypted_content: encrypted }),
    }
  }

  get #encrypted(): string | undefined {
    if (this.#signature !== '') return tagSecret(this.#provider, 'signature', this.#signature)
    return this.#redacted === '' ? undefined : tagSecret(this.#provider, 'redacted', this.#redacted)
  }

  get #about() {
    return { item_id: this.#place.id, output_index: this.#place.index, summary_index: 0 }
  }

  #begin(): void {
    const { events } = this.#place
    const part = { type: 'summary_text', text: '' } as const
    events?.emit({ type: 'response.reasoning_summary_part.added', ...this.#about, part })
    this.#delta = events?.deltas({ type: 'response.reasoning_summary_text.delta', ...this.#about })
  }
}
