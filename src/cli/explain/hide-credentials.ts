import { isCredentialField, REDACTED, redactTarget } from '#base/credential-names.ts'
import type { WrittenCredential } from '#exchange/trace.ts'

/**
 * Removes the credentials from the head of a message: those in headers and query parameters that carry credentials by convention, and those
 * at `places`, where the gateway wrote some. The body is unchanged.
 */
export function hideCredentials(message: string, places: readonly WrittenCredential[]): string {
  const [head, ...body] = message.split('\r\n\r\n')
  const [start, ...fields] = head!.split('\r\n')
  const namesOf = (kind: WrittenCredential['kind']) =>
    places.filter((place) => place.kind === kind).map(({ name }) => name)
  const written = namesOf('header')
  const hidden = fields.map((field) => {
    const name = field.slice(0, field.indexOf(':'))
    return isCredentialField(name) || written.includes(name.toLowerCase()) ? `${name}: ${REDACTED}` : field
  })
  const shown = [hideInTarget(start!, namesOf('queryParameter')), ...hidden].join('\r\n')
  return [shown, ...body].join('\r\n\r\n')
}

/** For a start line. That of a response has no target, and nothing that looks like one. */
function hideInTarget(start: string, parameters: readonly string[]): string {
  const [method, target, ...rest] = start.split(' ')
  return [method, redactTarget(target!, parameters), ...rest].join(' ')
}
