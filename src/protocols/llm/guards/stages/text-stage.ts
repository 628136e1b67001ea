import type { Refusal } from '#exchange/outcome.ts'

/** Receives the text of a block, in order. `Tag` identifies the delta that a text belongs to; each delta comes once, also if it is empty. */
export interface TextOutput<Tag> {
  text(tag: Tag, text: string): void
  /** The block is complete. */
  finish(): void
}

/** One guard on the text of one block: what it lets pass goes to an output. */
export type TextStage<Tag> = TextOutput<Tag>

/** Ends the stream: a guard rejects or fails. */
export type RefuseStream = (refusal: Refusal) => void
