import type { JsonFault } from './scan-members.ts'

/** A text is not JSON, or not what may be read. */
export class Unreadable extends Error {
  readonly fault: JsonFault

  constructor(fault: JsonFault['fault'], at: number) {
    super(fault)
    this.fault = { fault, at }
  }
}
