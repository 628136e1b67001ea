import type { DatabaseFault } from '../database/database-fault.ts'

/** A change that was not stored, so that it did not happen. The message is one line for a person, and says what to do. */
export class JournalFailure extends Error {
  override readonly name = 'JournalFailure'
  readonly fault: DatabaseFault

  constructor(fault: DatabaseFault, message: string, cause: unknown) {
    super(message, { cause })
    this.fault = fault
  }
}
