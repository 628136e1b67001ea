import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { FrameReader } from '#net/websocket/frame-reader.ts'
import { applyMask } from '#net/websocket/mask.ts'
import { writeBinaryFrame, writeServerClose } from '#net/websocket/write-frame.ts'

const PROTOCOL = 'v4.channel.k8s.io'
const [DATA, ERROR] = [0, 1]

/** Forwards a port as the kubelet does (`pkg/kubelet/cri/streaming/portforward/websocket.go` of Kubernetes): a handler for the event `upgrade`. */
export function forwardToPort({ headers, url }: IncomingMessage, socket: Duplex, port: number): void {
  const digest = createHash('sha1').update(`${headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
  const accept = [`Sec-WebSocket-Accept: ${digest.digest('base64')}`, `Sec-WebSocket-Protocol: ${PROTOCOL}`]
  const fields = ['Upgrade: websocket', 'Connection: Upgrade', ...accept]
  socket.write(['HTTP/1.1 101 Switching Protocols', ...fields, '', ''].join('\r\n'))
  const send = (channel: number, bytes: Uint8Array) =>
    socket.write(writeBinaryFrame('server', Buffer.concat([Uint8Array.of(channel), bytes])))
  const asked = Buffer.alloc(2)
  asked.writeUInt16LE(Number(new URL(url!, 'http://api').searchParams.get('ports')))
  for (const channel of [DATA, ERROR]) send(channel!, asked)
  const close = () => void socket.end(writeServerClose(1000))
  const target = connect(port, '127.0.0.1')
  target.on('data', (bytes: Buffer) => send(DATA!, bytes))
  target.on('error', ({ message }) => {
    send(ERROR!, Buffer.from(`error forwarding port: ${message}`))
    close()
  })
  target.on('end', close)
  let key: Uint8Array | undefined
  let at = 0
  const frames = new FrameReader('client', {
    begin(frame) {
      key = frame.key?.slice()
      at = 0
    },
    payload(buffer, start, end) {
      const bytes = Buffer.from(buffer.subarray(start, end))
      applyMask(bytes, key!, at)
      // The first byte of a message is its channel.
      target.write(at === 0 ? bytes.subarray(1) : bytes)
      at += bytes.length
    },
    end: () => undefined,
  })
  socket.on('data', (bytes: Buffer) => frames.read(bytes, 0, bytes.length))
  socket.on('error', () => {})
  socket.on('end', () => socket.destroy())
  socket.on('close', () => target.destroy())
}
