import type { ConfigMapObject } from '#api/config-map.ts'
import { toByteText } from '#base/byte-text.ts'

/** The entries of a ConfigMap as byte text, like those of a Secret. */
export function configMapData({ data = {}, binaryData = {} }: ConfigMapObject): Readonly<Record<string, string>> {
  const entries = new Map(Object.entries(data).map(([name, text]) => [name, toByteText(text)]))
  for (const [name, base64] of Object.entries(binaryData)) entries.set(name, atob(base64))
  return Object.fromEntries(entries)
}
