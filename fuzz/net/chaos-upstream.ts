import net from 'node:net'

/** Numbers in [0, 1). */
export type Random = () => number

/** A server that responds with the path of the request and random text, with all valid framings and some invalid ones. */
export async function startChaosUpstream(
  random: Random,
): Promise<{ port: number; connections: () => number; close(): void }> {
  const open = new Set<net.Socket>()
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    open.add(socket)
    socket.setNoDelay(true)
    socket.on('close', () => open.delete(socket))
    socket.on('error', () => {})
    new ChaosPeer(socket, random)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.close()
    for (const socket of open) socket.destroy()
  }
  return { port: (server.address() as net.AddressInfo).port, connections: () => open.size, close }
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

class ChaosPeer {
  readonly #socket: net.Socket
  readonly #random: Random
  #arrived = ''
  #busy = false

  constructor(socket: net.Socket, random: Random) {
    this.#socket = socket
    this.#random = random
    socket.on('end', () => socket.end())
    socket.on('data', (bytes: Buffer) => {
      this.#arrived += bytes.toString('latin1')
      if (!this.#busy) this.#serve().catch(() => socket.destroy())
    })
  }

  async #serve(): Promise<void> {
    this.#busy = true
    for (let request = this.#next(); request !== undefined && !this.#socket.destroyed; request = this.#next()) {
      if (this.#chance(0.05)) await wait(this.#random() * 30)
      await this.#answer(request.method, request.target)
    }
    this.#busy = false
  }

  #next(): { method: string; target: string } | undefined {
    const headEnd = this.#arrived.indexOf('\r\n\r\n') + 4
    if (headEnd < 4) return undefined
    const head = this.#arrived.slice(0, headEnd)
    const [method = '', target = ''] = head.split(' ')
    if (this.#chance(0.02)) {
      // Before the body has arrived.
      this.#arrived = ''
      const body = method === 'HEAD' ? '' : target
      this.#socket.end(`HTTP/1.1 413 X\r\ncontent-length: ${target.length}\r\nconnection: close\r\n\r\n${body}`)
      return undefined
    }
    let end = headEnd + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
    if (/transfer-encoding/i.test(head)) end = this.#arrived.indexOf('0\r\n\r\n', headEnd) + 5
    if (end < headEnd || this.#arrived.length < end) return undefined
    this.#arrived = this.#arrived.slice(end)
    return { method, target }
  }

  async #answer(method: string, target: string): Promise<void> {
    const socket = this.#socket
    const length = this.#chance(0.1) ? this.#random() * 200_000 : this.#random() * 300
    const text = `${target}|${'x'.repeat(length)}|${target}`
    const body = method === 'HEAD' ? '' : text
    const announced = (bytes: number, lines = '') =>
      `HTTP/1.1 200 OK\r\ncontent-length: ${bytes}\r\n${lines}\r\n${body}`
    switch (Math.floor(this.#random() * 24)) {
      case 0:
        return void socket.destroy()
      case 1:
        // Node cannot reset a socket that is ending.
        return void (socket.writableEnded ? socket.destroy() : socket.resetAndDestroy())
      case 2:
        socket.write(announced(text.length + 5))
        await wait(this.#random() * 10)
        return void socket.destroy()
      case 3:
        return void socket.end(`HTTP/1.1 200 OK\r\n\r\n${body}`)
      case 4:
        socket.write(announced(text.length))
        await wait(this.#random() * 4)
        return void socket.destroy()
      case 5:
        return void socket.end(announced(text.length, 'connection: close\r\n'))
      case 6:
        return void socket.write('nonsense\r\n')
      case 7:
        return void socket.write(`HTTP/1.1 103 Early Hints\r\n\r\n${announced(text.length)}`)
      case 8:
        return void socket.write(`${announced(text.length)}HTTP/1.1 200 OK\r\n`)
      default:
        if (this.#chance(0.5)) return void socket.write(announced(text.length))
        return this.#answerInChunks(body)
    }
  }

  async #answerInChunks(body: string): Promise<void> {
    this.#socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    for (let rest = body; rest !== ''; ) {
      const chunk = rest.slice(0, 1 + this.#random() * (this.#chance(0.3) ? 50 : 60_000))
      rest = rest.slice(chunk.length)
      this.#socket.write(`${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      if (this.#chance(0.1)) await wait(1)
    }
    if (body !== '') this.#socket.write('0\r\n\r\n')
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }
}
