/** The objects of an API cannot be read: its address, the access to it, or what it answers. The message is for the terminal; the exit code is 1. */
export class ApiUnreadable extends Error {
  override readonly name = 'ApiUnreadable'
  /** Of the answer, if that is the reason. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}
