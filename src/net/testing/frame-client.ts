import { once } from 'node:events'
import net from 'node:net'
import { Changes } from './changes.ts'
import { FrameConnection } from './frame-connection.ts'
import {
  END_HEADERS,
  END_STREAM,
  type Field,
  type Frame,
  GOAWAY,
  HEADERS,
  headerBlock,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  settingsPayload,
} from './frames.ts'

/** An HTTP/2 client that can wait for frames. */
export class FrameClient extends FrameConnection {
  closed = false
  readonly #changes = new Changes()

  constructor(socket: net.Socket) {
    super(socket)
    socket.on('close', () => {
      this.closed = true
      this.#changes.announce()
    })
  }

  /** Connects and sends the connection preface. @param settings pairs of identifier and value */
  static async connect(port: number, settings: readonly (readonly [number, number])[] = []): Promise<FrameClient> {
    const socket = net.connect({ port, host: '127.0.0.1' })
    await once(socket, 'connect')
    const client = new FrameClient(socket)
    socket.write(PREFACE, 'latin1')
    client.send(SETTINGS, 0, 0, settingsPayload(settings))
    return client
  }

  /** Sends a request. @param fields added to the pseudo-header fields of a GET; replace them if the first is a pseudo-header field */
  request(stream: number, fields: readonly Field[] = [], flags: number = END_STREAM | END_HEADERS): void {
    this.send(HEADERS, flags, stream, requestBlock(fields))
  }

  /** Waits for a frame that satisfies `check`. Fails if the connection ends first. */
  async until(check: (frame: Frame) => boolean): Promise<Frame> {
    for (let seen = 0; ; await this.#changes.next()) {
      for (; seen < this.frames.length; seen++) if (check(this.frames[seen]!)) return this.frames[seen]!
      if (this.closed) throw new Error(`closed after ${this.frames.map(describe).join(', ')}`)
    }
  }

  async untilClosed(): Promise<void> {
    while (!this.closed) await this.#changes.next()
  }

  /** Error code of the last GOAWAY of the server. */
  get goawayCode(): number | undefined {
    return this.frames.findLast(({ type }) => type === GOAWAY)?.payload.readUInt32BE(4)
  }

  /** Error code with which the server reset a stream. */
  resetCode(stream: number): number | undefined {
    const reset = this.frames.find((frame) => frame.type === RST_STREAM && frame.stream === stream)
    return reset?.payload.readUInt32BE(0)
  }

  close(): void {
    this.socket.destroy()
  }

  protected override received(): void {
    this.#changes.announce()
  }
}

const GET: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a.test'],
]

export function requestBlock(fields: readonly Field[] = []): Buffer {
  return headerBlock(fields[0]?.[0].startsWith(':') === true ? fields : [...GET, ...fields])
}

function describe({ type, flags, stream, payload }: Frame): string {
  return `${type}/${flags} on ${stream} (${payload.toString('hex').slice(0, 32)})`
}
