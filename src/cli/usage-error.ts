/** The command line is invalid. The message is for the terminal; the exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
