import { CallsOfChoices } from '../completions/call-numbers.ts'
import { BlockNumbers } from './block-numbers.ts'

/** What of one stream tells apart the calls and blocks to which its provider gives the same `index`, or none. */
export class StreamNumbers {
  readonly calls = new CallsOfChoices()
  readonly blocks = new BlockNumbers()
}
