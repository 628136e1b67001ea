/** Why a credential could not be obtained, for operators. Only texts of the gateway itself: those of others may repeat secrets. */
export class CredentialError extends Error {}

interface ErrorFacts {
  readonly name?: unknown
  readonly code?: unknown
  readonly status?: unknown
  readonly cause?: unknown
  readonly message?: unknown
}

/**
 * What went wrong, in words that contain no secret. The message of an error may repeat the request, the answer or a file, so only a known part of
 * it is used, or else the kind of the error.
 * @param known matches the parts of messages that are constants of a library
 */
export function causeOf(error: unknown, known?: RegExp): string {
  if (error instanceof CredentialError) return error.message
  const { name, code, status, cause, message } = Object(error) as ErrorFacts
  const text = known !== undefined && typeof message === 'string' ? known.exec(message)?.[0] : undefined
  if (text !== undefined) return text
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code)) return code
  if (Number.isInteger(status)) return `status ${status}`
  if (cause instanceof Error && cause !== error) return causeOf(cause, known)
  return typeof name === 'string' && /^[A-Za-z]{1,64}$/.test(name) ? name : 'unknown error'
}
