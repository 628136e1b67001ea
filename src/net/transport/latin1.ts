declare global {
  interface Buffer {
    /** The function that `toString('latin1', start, end)` calls, without the checks of encoding and range. */
    latin1Slice(start: number, end: number): string
    /** As `write(text, offset, 'latin1')`, likewise. @returns the bytes written */
    latin1Write(text: string, offset: number): number
  }
}

/** The bytes of `buffer[start, end)` as text, one character per byte. */
export function latin1(buffer: Buffer, start: number, end: number): string {
  return buffer.latin1Slice(start, end)
}
