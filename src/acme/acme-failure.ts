/** No certificate was issued. The message has the words of the server, on one line. */
export class AcmeFailure extends Error {
  override readonly name = 'AcmeFailure'
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs = 0) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
