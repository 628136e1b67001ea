import type { Json } from '#base/json.ts'
import type { SecretHider } from '#base/known-secrets.ts'

/** The value without secrets: every text in it, at any depth. */
export function hideIn(value: Json, secrets: SecretHider): Json {
  if (typeof value === 'string') return secrets.hide(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((element: Json) => hideIn(element, secrets))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [secrets.hide(name), hideIn(member, secrets)]),
  )
}
