/** The command line asks for something that cannot be; the message is for the terminal, the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
