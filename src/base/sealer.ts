import { parseExactJson } from './exact-json.ts'

/**
 * Protects texts that leave the gateway and come back (session ids, cursors, references to requests): nobody else can read or
 * make one. All workers and replicas that share a key open each other's.
 */
export interface Sealer {
  /** Encrypted and authenticated, as base64url text. */
  seal(bytes: Uint8Array): string
  /** Undefined for anything that no known key has sealed. */
  open(text: string): Uint8Array | undefined
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function sealJson(sealer: Sealer, value: object): string {
  return sealer.seal(encoder.encode(JSON.stringify(value)))
}

/** What `sealJson` made; the caller knows the shape by a member `k` that every use has for itself. */
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
