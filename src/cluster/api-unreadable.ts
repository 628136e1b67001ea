/** The objects of an API cannot be read: its address, the access to it, or what it answers. The message is for the terminal; the exit code is 1. */
export class ApiUnreadable extends Error {
  override readonly name = 'ApiUnreadable'
  /** Of the answer, if that is the reason. */
  readonly status: number | undefined

  /** How long the API wants its client to wait. */
  readonly retryAfterMs: number
  /** The message of the answer, if it has one. */
  readonly said: string | undefined

  constructor(message: string, { status, retryAfterMs = 0, said }: Answer = {}) {
    super(message)
    this.status = status
    this.retryAfterMs = retryAfterMs
    this.said = said
  }
}

interface Answer {
  readonly status?: number
  readonly retryAfterMs?: number
  readonly said?: string | undefined
}

/** The API does not answer, does not know us, or asks us to wait: other requests would fare no better. */
export function isOutage(error: unknown): error is ApiUnreadable {
  if (!(error instanceof ApiUnreadable)) return false
  const { status } = error
  return status === undefined || status === 401 || status === 429 || status >= 500
}

/** Another writer was faster: the object has changed, or exists. */
export function isConflict(error: unknown): error is ApiUnreadable {
  return error instanceof ApiUnreadable && error.status === 409
}
