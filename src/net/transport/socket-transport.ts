import { type ByteCounts, type ConnectedSocket, canReset } from './connected-socket.ts'
import type { Transport, TransportOwner } from './transport.ts'
import { TurnTransport } from './turn-transport.ts'

const NO_OWNER: TransportOwner = { bytes() {}, ended() {}, drained() {}, closed() {} }

function ignore(): void {}

/** The sending half of a transport on a Node socket. Its creator decides how bytes are read. */
export class SocketTransport extends TurnTransport implements Transport {
  backed = false
  protected readonly socket: ConnectedSocket
  #owner: TransportOwner
  #paused = false

  constructor(socket: ConnectedSocket, owner: TransportOwner) {
    super()
    this.socket = socket
    this.#owner = owner
    if (this.writesToStream) socket.on('drain', () => this.drained())
    socket.on('end', () => this.ended())
    // 'close' follows every error and is sufficient for protocol code.
    socket.on('error', ignore)
    socket.on('close', () => this.#owner.closed())
  }

  /** Output goes through the stream, which says when it has drained. */
  protected get writesToStream(): boolean {
    return true
  }

  protected drained(): void {
    this.backed = false
    this.#owner.drained()
  }

  get usable(): boolean {
    return this.socket.writable
  }

  get unsentBytes(): number {
    return this.socket.writableLength + this.gatheredBytes
  }

  get counts(): ByteCounts {
    return this.socket
  }

  protected ended(): void {
    this.#owner.ended()
  }

  protected sendText(text: string): void {
    if (!this.socket.write(text, 'latin1')) this.backed = true
  }

  protected sendBytes(bytes: Buffer): boolean {
    if (!this.socket.write(bytes)) this.backed = true
    return false
  }

  pause(): void {
    if (this.#paused) return
    this.#paused = true
    this.socket.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.socket.resume()
  }

  end(): void {
    this.flush()
    this.socket.end()
  }

  destroy(): void {
    this.forget()
    this.socket.destroy()
  }

  detach(unread: Buffer): ConnectedSocket {
    this.flush()
    this.#owner = NO_OWNER
    this.socket.removeAllListeners('data')
    this.socket.pause()
    this.socket.unshift(unread)
    return this.socket
  }

  reset(): void {
    this.forget()
    if (canReset(this.socket)) this.socket.resetAndDestroy()
    else this.socket.destroy()
  }
}
