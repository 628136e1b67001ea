import { once } from 'node:events'
import net from 'node:net'

const REQUEST = 'GET /small HTTP/1.1\r\nhost: bench\r\n\r\n'
/** Number of connections opened at once, limited by the accept queue of a listener. */
const AT_ONCE = 100

/** Connections that have carried one request each and stay open. */
export class KeptConnections {
  readonly #sockets: net.Socket[] = []

  /** @throws Error if one of them gets no response */
  static async open(port: number, count: number): Promise<KeptConnections> {
    const kept = new KeptConnections()
    while (kept.#sockets.length < count) {
      const missing = Math.min(AT_ONCE, count - kept.#sockets.length)
      kept.#sockets.push(...(await Promise.all(Array.from({ length: missing }, () => connect(port)))))
    }
    return kept
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#sockets.map((socket) => {
        const closed = once(socket, 'close')
        socket.destroy()
        return closed
      }),
    )
  }
}

async function connect(port: number): Promise<net.Socket> {
  const socket = net.connect(port, '127.0.0.1')
  socket.write(REQUEST)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString('latin1').startsWith('HTTP/1.1 200')) throw new Error(`answered ${answer}`)
  return socket
}
