/** The polynomial of CRC-32, reflected (RFC 1952, 8). */
const CRC32 = tablesOf(0xedb88320)
/** The Castagnoli polynomial, reflected (RFC 3720, appendix B.4). */
const CRC32C = tablesOf(0x82f63b78)

/**
 * CRC-32 of `bytes[start, end)`, an unsigned 32-bit number. For the frames of most streams, which have a few hundred bytes, this is as fast as `zlib`, and
 * it needs no Node.
 * @param before the checksum of the bytes before `start`
 */
export function crc32(bytes: Uint8Array, start: number, end: number, before = 0): number {
  return checksum(CRC32, bytes, start, end, before)
}

/** CRC32C of `bytes`, an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array): number {
  return checksum(CRC32C, bytes, 0, bytes.length, 0)
}

/** Four bytes per step ("slicing by 4"): `tables[k * 256 + byte]` is the effect of a byte that `k` bytes follow. */
function checksum(tables: Int32Array, bytes: Uint8Array, start: number, end: number, before: number): number {
  let crc = ~before
  let at = start
  for (; at + 4 <= end; at += 4) {
    crc ^= bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    crc =
      tables[768 + (crc & 255)]! ^
      tables[512 + ((crc >>> 8) & 255)]! ^
      tables[256 + ((crc >>> 16) & 255)]! ^
      tables[crc >>> 24]!
  }
  for (; at < end; at++) crc = tables[(crc ^ bytes[at]!) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}

function tablesOf(polynomial: number): Int32Array {
  const tables = new Int32Array(4 * 256)
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ polynomial : crc >>> 1
    tables[byte] = crc
  }
  for (let at = 256; at < tables.length; at++) {
    const shorter = tables[at - 256]!
    tables[at] = tables[shorter & 255]! ^ (shorter >>> 8)
  }
  return tables
}
