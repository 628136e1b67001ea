import type { ResponseOutputItem } from 'openai/resources/responses/responses'
import type { ResponseEvents } from './events.ts'

/** Where an item stands. */
export interface ItemPlace {
  readonly id: string
  readonly index: number
  /** Undefined if the response is no stream. */
  readonly events: ResponseEvents | undefined
}

type ItemStatus = 'completed' | 'incomplete'

/** An item of the output that is being written. Its constructor writes the event of its beginning. */
export interface OutputItem {
  /** Writes the events that repeat its contents. */
  finish(): void
  write(status: ItemStatus): ResponseOutputItem
}
