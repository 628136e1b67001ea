import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** Completes the handshake (RFC 6455, 4.2.2) and returns each text message; a handler for the event `upgrade` of a server. */
export function echoWebSocket({ headers }: IncomingMessage, socket: Duplex): void {
  const digest = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  const fields = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${digest.digest('base64')}`]
  socket.on('error', () => {})
  socket.write(['HTTP/1.1 101 Switching Protocols', ...fields, '', ''].join('\r\n'))
  let received = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    for (let frame = takeFrame(received); frame !== undefined; frame = takeFrame(received)) {
      received = received.subarray(frame.length)
      const { payload } = frame
      const size = payload.length < 126 ? [payload.length] : [126, payload.length >> 8, payload.length & 255]
      socket.write(Buffer.concat([Buffer.from([frame.first, ...size]), payload]))
      if ((frame.first & 15) === CLOSE) socket.end()
    }
  })
}

const CLOSE = 8

/** One frame of a client, of up to 65,535 bytes (RFC 6455, 5.2); `first` is its first byte. @returns undefined if it is not complete */
function takeFrame(bytes: Buffer): { first: number; payload: Buffer; length: number } | undefined {
  if (bytes.length < 4) return undefined
  const short = bytes[1]! & 127
  const [size, at] = short === 126 ? [bytes.readUInt16BE(2), 4] : [short, 2]
  const length = at + 4 + size
  if (bytes.length < length) return undefined
  const payload = Buffer.from(bytes.subarray(at + 4, length).map((byte, i) => byte ^ bytes[at + (i % 4)]!))
  return { first: bytes[0]!, payload, length }
}
