/** Why a text is not a usable JSON object; `at` is a byte offset. */
export interface JsonFault {
  readonly fault:
    | 'not-json'
    | 'not-an-object'
    | 'duplicate-key'
    | 'ambiguous-key'
    | 'too-many-parts'
    | 'too-many-members'
  readonly at: number
}

/** A text is not JSON, or not what may be read. */
export class Unreadable extends Error {
  readonly fault: JsonFault

  constructor(fault: JsonFault['fault'], at: number) {
    super(fault)
    this.fault = { fault, at }
  }
}
