const decoder = new TextDecoder()

/** Most names are shorter. For them, a call of the decoder costs more than building the string byte by byte. */
const SHORT = 48

/** The UTF-8 text of `bytes` from `start` to `end`. */
export function decodeText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT) return decoder.decode(bytes.subarray(start, end))
  let text = ''
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte > 0x7f) return decoder.decode(bytes.subarray(start, end))
    text += String.fromCharCode(byte)
  }
  return text
}
