import { parseExactJson } from './exact-json.ts'

/**
 * Protects texts that leave the gateway and come back (session ids, cursors, references to requests): clients can neither read nor create
 * them. Workers and replicas with the same key can open each other's texts.
 */
export interface Sealer {
  /** Encrypted and authenticated, as base64url text. */
  seal(bytes: Uint8Array): string
  /** Undefined for a text that no known key has sealed. */
  open(text: string): Uint8Array | undefined
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function sealJson(sealer: Sealer, value: object): string {
  return sealer.seal(encoder.encode(JSON.stringify(value)))
}

/** Opens a text of `sealJson`. The member `k`, which is different for each use, ensures the type. */
export function openJson<Shape extends { readonly k: string }>(
  sealer: Sealer,
  kind: Shape['k'],
  text: string,
): Shape | undefined {
  const bytes = sealer.open(text)
  if (bytes === undefined) return undefined
  const value = parseExactJson(decoder.decode(bytes)) as Shape
  return value.k === kind ? value : undefined
}
