import { KEY_BYTES } from './frame-reader.ts'

/** Masks or unmasks a part of a payload in place (RFC 6455, 5.3). @param from position of the part in the payload */
export function applyMask(bytes: Uint8Array, key: Uint8Array, from: number): void {
  for (let i = 0; i < bytes.length; i++) bytes[i]! ^= key[(from + i) % KEY_BYTES]!
}
