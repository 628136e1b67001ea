import { IdpError } from './idp-error.ts'

/** A text of a JSON object. @throws IdpError 400 if it is another value */
export function textMember(value: unknown, name: string): string | undefined {
  const member = memberIn(value, name)
  if (member === undefined || member === null || typeof member === 'string') return member ?? undefined
  throw wrongType(name, 'a string')
}

/** @throws IdpError 400 */
export function flagMember(value: unknown, name: string): boolean | undefined {
  const member = memberIn(value, name)
  if (member === undefined || member === null || typeof member === 'boolean') return member ?? undefined
  throw wrongType(name, 'true or false')
}

/** A list of texts. @throws IdpError 400 */
export function memberTexts(value: unknown, name: string): readonly string[] | undefined {
  const member = memberIn(value, name)
  if (member === undefined || member === null) return undefined
  if (Array.isArray(member) && member.every((one) => typeof one === 'string')) return member
  throw wrongType(name, 'a list of strings')
}

/** @throws IdpError 400 */
export function objectMember(value: unknown, name: string): object | undefined {
  const member = memberIn(value, name)
  if (member === undefined || member === null) return undefined
  if (typeof member === 'object' && !Array.isArray(member)) return member
  throw wrongType(name, 'an object')
}

/** @throws IdpError 400 if the value is no object */
export function memberIn(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw IdpError.oauth(400, 'invalid_request', 'the body must be a JSON object')
  }
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}

function wrongType(name: string, expected: string): IdpError {
  return IdpError.oauth(400, 'invalid_request', `${name} must be ${expected}`)
}

/** The members that are not undefined. */
export function definedIn<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>
}
