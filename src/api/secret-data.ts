import { toByteText } from '#base/byte-text.ts'
import type { SecretObject } from './secret.ts'

/**
 * The entries of a Secret as byte text. `stringData` takes precedence over `data`, as in Kubernetes. The schema rejects entries with
 * invalid base64.
 */
export function secretData({ data = {}, stringData = {} }: SecretObject): Readonly<Record<string, string>> {
  const entries = new Map(Object.entries(data).map(([name, base64]) => [name, atob(base64)]))
  for (const [name, text] of Object.entries(stringData)) entries.set(name, toByteText(text))
  return Object.fromEntries(entries)
}
