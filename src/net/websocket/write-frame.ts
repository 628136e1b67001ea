import { asBuffer } from '../body/as-buffer.ts'
import { BINARY, CLOSE, KEY_BYTES, PONG, TEXT } from './frame-reader.ts'
import { applyMask } from './mask.ts'

type Sender = 'client' | 'server'

/** A text message in one frame. */
export function writeTextFrame(sender: Sender, text: Uint8Array): Buffer {
  return writeFrame(TEXT, text, keyOf(sender))
}

/** A binary message in one frame. */
export function writeBinaryFrame(sender: Sender, bytes: Uint8Array): Buffer {
  return writeFrame(BINARY, bytes, keyOf(sender))
}

/** The answer to a ping. @param payload that of the ping (RFC 6455, 5.5.3) */
export function writePong(sender: Sender, payload: Uint8Array): Buffer {
  return writeFrame(PONG, payload, keyOf(sender))
}

/** The frame with which a server closes the connection. */
export function writeServerClose(code: number): Buffer {
  return writeFrame(CLOSE, Uint8Array.of(code >> 8, code & 255), undefined)
}

/** Clients mask their frames with a key that nobody can predict, servers do not (RFC 6455, 5.3). */
function keyOf(sender: Sender): Uint8Array | undefined {
  return sender === 'client' ? crypto.getRandomValues(new Uint8Array(KEY_BYTES)) : undefined
}

function writeFrame(opcode: number, payload: Uint8Array, key: Uint8Array | undefined): Buffer {
  const { length } = payload
  const lengthBytes = length < 126 ? 0 : length < 2 ** 16 ? 2 : 8
  const keyAt = 2 + lengthBytes
  const start = keyAt + (key?.length ?? 0)
  const frame = new Uint8Array(start + length)
  frame[0] = 0x80 | opcode
  frame[1] = (key === undefined ? 0 : 0x80) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  const view = new DataView(frame.buffer)
  if (lengthBytes === 2) view.setUint16(2, length)
  else if (lengthBytes === 8) view.setBigUint64(2, BigInt(length))
  frame.set(payload, start)
  if (key !== undefined) {
    frame.set(key, keyAt)
    applyMask(frame.subarray(start), key, 0)
  }
  return asBuffer(frame)
}
