/** The target broke the protocol after its response had begun, or exceeded a limit. */
export class TargetStreamError extends Error {
  /** The exceeded limit, which the client may know. */
  readonly limit: string | undefined

  constructor(message: string, limit?: string) {
    super(limit === undefined ? message : `${message}: ${limit}`)
    this.limit = limit
  }
}
