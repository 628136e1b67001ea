import { isCredentialField } from '#base/credential-names.ts'
import type { Expression } from './expression.ts'

/** Variables that are or may contain credentials, besides headers. */
const CREDENTIALS = [
  'apiKey.key',
  'jwt.rawToken',
  'request.body',
  'request.bodyPrefix',
  'request.pathAndQuery',
  'request.uri',
]

/** Whether the result of an expression may contain a credential of the request. Determined from its text. */
export function readsCredentials({ requestFields, references }: Expression): boolean {
  if (requestFields === 'all' || [...requestFields].some(isCredentialField)) return true
  return [...references].some((name) => CREDENTIALS.includes(name) || name.startsWith('request.query'))
}
