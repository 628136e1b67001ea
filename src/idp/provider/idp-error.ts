/** Ends a request with an error in the form of the endpoint. */
export class IdpError extends Error {
  override readonly name = 'IdpError'
  readonly status: number
  readonly body: object
  readonly headers: Readonly<Record<string, string>>

  private constructor(status: number, body: object, message: string, headers: IdpError['headers'] = {}) {
    super(message)
    this.status = status
    this.body = body
    this.headers = headers
  }

  /** An error of OAuth (RFC 6749, 5.2; RFC 7591, 3.2.2). */
  static oauth(status: number, error: string, description: string, headers?: IdpError['headers']): IdpError {
    return new IdpError(status, { error, error_description: description }, description, headers)
  }

  /** An error of the admin API. */
  static admin(status: number, message: string): IdpError {
    return new IdpError(
      status,
      status === 409 || status === 400 ? { errorMessage: message } : { error: message },
      message,
    )
  }
}
