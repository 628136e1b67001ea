/** Whether bytes contain a pattern of at least one byte. Fast where its first byte is rare. */
export function includesBytes(bytes: Uint8Array, pattern: Uint8Array): boolean {
  const first = pattern[0]!
  const last = bytes.length - pattern.length
  for (let at = bytes.indexOf(first); at >= 0 && at <= last; at = bytes.indexOf(first, at + 1)) {
    let matched = 1
    while (matched < pattern.length && bytes[at + matched] === pattern[matched]) matched++
    if (matched === pattern.length) return true
  }
  return false
}
