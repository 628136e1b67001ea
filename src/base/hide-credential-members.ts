import { isCredentialField, REDACTED } from './credential-names.ts'

/**
 * Copies plain data without the texts of members whose names indicate a credential: `{ authorization: ... }`, and
 * `{ name: authorization, value: ... }` of header modifiers, filters and variables.
 */
export function hideCredentialMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hideCredentialMembers)
  if (value === null || typeof value !== 'object') return value
  const { name } = value as { readonly name?: unknown }
  const isCredential = typeof name === 'string' && isCredentialField(name)
  const members = Object.entries(value).map(([key, member]: [string, unknown]) => {
    const isSecret = isCredentialField(key) || (isCredential && key === 'value')
    return [key, isSecret && typeof member === 'string' ? REDACTED : hideCredentialMembers(member)] as const
  })
  return Object.fromEntries(members)
}
