import { COALESCE_BYTES } from './transport.ts'

/** The number of free blocks that are kept: as many as a busy turn needs. */
const MAX_SPARE = 128

const spare: Buffer[] = []

/** Memory for `COALESCE_BYTES` of output, not initialized. */
export function takeBlock(): Buffer {
  return spare.pop() ?? Buffer.allocUnsafeSlow(COALESCE_BYTES)
}

/** Releases `block`, which must not be used afterwards. A block that is not released is garbage-collected after it was sent. */
export function giveBlockBack(block: Buffer): void {
  if (spare.length < MAX_SPARE) spare.push(block)
}
