/** Digests for signatures. Synchronous, because one takes microseconds. Text is byte text. */
export interface Hashing {
  /** In hexadecimal digits. */
  sha256(data: string | Uint8Array): string
  hmacSha256(key: string | Uint8Array, text: string): Uint8Array
}
