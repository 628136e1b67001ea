import { once } from 'node:events'
import net from 'node:net'

/** Relays all bytes between a client and a server on this machine, and can insert bytes. */
export class WireTap {
  readonly #server: net.Server
  readonly #client = Promise.withResolvers<net.Socket>()
  readonly #upstream = Promise.withResolvers<net.Socket>()
  readonly #closed = Promise.withResolvers<void>()

  constructor(port: number) {
    this.#server = net.createServer({ noDelay: true }, (client) => {
      const upstream = net.connect({ host: '127.0.0.1', port, noDelay: true })
      for (const socket of [client, upstream]) socket.on('error', () => {})
      client.on('close', () => upstream.destroy())
      upstream.on('close', () => {
        client.destroy()
        this.#closed.resolve()
      })
      client.pipe(upstream)
      upstream.pipe(client)
      this.#client.resolve(client)
      this.#upstream.resolve(upstream)
    })
  }

  static async start(port: number): Promise<WireTap> {
    const tap = new WireTap(port)
    tap.#server.listen(0, '127.0.0.1')
    await once(tap.#server, 'listening')
    return tap
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port
  }

  /** Resolves when the connection to the server has ended. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Sends bytes to the client as if they came from the server. */
  async addToClient(bytes: Buffer): Promise<void> {
    const client = await this.#client.promise
    client.write(bytes)
  }

  /** Sends bytes to the server as if they came from the client. */
  async addToServer(bytes: Buffer): Promise<void> {
    const upstream = await this.#upstream.promise
    upstream.write(bytes)
  }

  close(): void {
    this.#server.close()
    void this.#client.promise.then((client) => client.destroy())
  }
}

/** A TLS record that no connection can decrypt. */
export const CORRUPT_RECORD: Buffer = Buffer.concat([Buffer.from([23, 3, 3, 0, 64]), Buffer.alloc(64, 0x5a)])
