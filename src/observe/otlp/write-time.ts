import type { Writer } from '#base/protobuf/writer.ts'

const HALF = 2 ** 32

/** Writes a time as OTLP does: nanoseconds since the epoch, in 64 bits. @param epochMs with fractions; microseconds are kept */
export function writeTime(out: Writer, tag: number, epochMs: number): void {
  const microseconds = Math.round(epochMs * 1000)
  // Nanoseconds need more digits than a number has.
  const low = (microseconds % HALF) * 1000
  const high = Math.floor(microseconds / HALF) * 1000 + Math.floor(low / HALF)
  out.varint(tag)
  out.fixed64(low % HALF, high)
}
