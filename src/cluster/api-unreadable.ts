/** The objects of an API cannot be read: its address, the access to it, or what it answers. The message is for the terminal; the exit code is 1. */
export class ApiUnreadable extends Error {
  override readonly name = 'ApiUnreadable'
  /** Of the answer, if that is the reason. */
  readonly status: number | undefined

  /** How long the API wants its client to wait. */
  readonly retryAfterMs: number

  constructor(message: string, { status, retryAfterMs = 0 }: { status?: number; retryAfterMs?: number } = {}) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}

/** Another writer was faster: the object has changed, or exists. */
export function isConflict(error: unknown): error is ApiUnreadable {
  return error instanceof ApiUnreadable && error.status === 409
}
