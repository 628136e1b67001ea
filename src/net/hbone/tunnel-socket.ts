import type { Http2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import { sawEndOfStream, watchEndOfStream } from '../node-http2/end-of-stream.ts'
import { cancelStream } from '../node-http2/reset-stream.ts'
import type { ConnectedSocket } from '../transport/connected-socket.ts'

/** Maximum time between the end of a closed tunnel on our side and on that of the peer. */
const LINGER_MS = 2000

export interface TunnelSocketOptions {
  /** Keep the sending direction open after the peer has ended its own. */
  readonly halfOpen: boolean
}

/**
 * An established tunnel as a socket, on either side: the bytes in the DATA frames of one stream of HTTP/2 after its CONNECT was answered (RFC
 * 9113, 8.5). END_STREAM is the end of a direction, RST_STREAM the reset of the connection. It starts paused, like an accepted socket, and
 * closes like one: 'close' comes at once after `destroy`, before the stream is gone.
 */
export class TunnelSocket extends Duplex implements ConnectedSocket {
  bytesRead = 0
  bytesWritten = 0
  readonly #stream: Http2Stream
  #resets = false

  /** @param stream on which nothing was read or written since the head of the answer */
  constructor(stream: Http2Stream, { halfOpen }: TunnelSocketOptions) {
    super({ allowHalfOpen: halfOpen })
    this.#stream = stream
    watchEndOfStream(stream)
    stream.on('data', (bytes: Buffer) => {
      this.bytesRead += bytes.length
      if (!this.push(bytes)) stream.pause()
    })
    stream.pause()
    stream.on('end', () => {
      if (sawEndOfStream(stream)) this.push(null)
    })
    // 'close' follows every error.
    stream.on('error', ignore)
    stream.on('close', () => this.#closed())
  }

  resetAndDestroy(): this {
    this.#resets = true
    return this.destroy()
  }

  override _read(): void {
    this.#stream.resume()
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#send(bytes, done)
  }

  override _writev(pieces: { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(pieces.map(({ chunk }) => chunk)), done)
  }

  override _final(done: () => void): void {
    this.#stream.end()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#resets || error !== null || this.writableLength > 0) cancelStream(this.#stream)
    else this.#leave()
    done(error)
  }

  /**
   * The stream buffers a bounded number of bytes, which are still sent after `destroy`, like those that a kernel has accepted. `done` is not called
   * for an error: the stream closes, which decides what becomes of the bytes that were received.
   */
  #send(bytes: Buffer, done: () => void): void {
    this.bytesWritten += bytes.length
    if (this.#stream.write(bytes)) done()
    else this.#stream.once('drain', done)
  }

  /**
   * Ends our direction, and waits for the end of the other one, as a kernel does for a closed socket: servers take many resets for an attack. A peer that
   * sends more, or does not end, gets one.
   */
  #leave(): void {
    const stream = this.#stream
    if (stream.destroyed) return
    const cut = () => cancelStream(stream)
    stream.end()
    stream.removeAllListeners('data').on('data', cut).resume()
    stream.setTimeout(LINGER_MS, cut)
  }

  /** The stream is gone: normally, by a reset of either side, or with its session. */
  #closed(): void {
    // Node keeps a stream long after its end, and with its listeners this socket.
    for (const event of ['data', 'end', 'drain', 'close']) this.#stream.removeAllListeners(event)
    if (this.destroyed) return
    if (!sawEndOfStream(this.#stream)) return void this.destroy(resetError())
    // What the peer sent before its orderly end is still read. It reads no more itself.
    if (this.writableFinished) return
    if (this.readableEnded) this.destroy()
    else this.once('end', () => this.destroy())
  }
}

function ignore(): void {}

/** The error of a socket that its peer has reset. */
function resetError(): NodeJS.ErrnoException {
  return Object.assign(new Error('the tunnel was reset'), { code: 'ECONNRESET' })
}
