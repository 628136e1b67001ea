import net from 'node:net'
import type { Random } from './chaos-upstream.ts'

interface Sent {
  readonly method: string
  readonly target: string
  readonly text: string
}

/** The results of the requests of one connection. */
export interface Tally {
  whole: number
  refused: number
  cut: number
}

let lastNumber = 0
const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** Sends pipelined requests in random pieces, disconnects at random, and checks that every response belongs to its request. */
export async function runChaosClient(port: number, random: Random, tally: Tally): Promise<void> {
  const requests = Array.from({ length: 1 + Math.floor(random() * 4) }, () => makeRequest(random))
  const client = new Client(port)
  const leaving = random() < 0.07 ? setTimeout(() => client.leave(random() < 0.5), random() * 20) : undefined
  const text = requests.map((request) => request.text).join('')
  for (let rest = text; rest !== '' && !client.over; ) {
    const piece = random() < 0.7 ? rest : rest.slice(0, 1 + random() * rest.length)
    rest = rest.slice(piece.length)
    client.socket.write(piece, 'latin1')
    if (rest !== '') await wait(random() * 5)
  }
  if (random() < 0.1) client.socket.end()
  for (const request of requests) {
    const answer = await client.nextAnswer(request.method)
    if (answer === undefined) {
      tally.cut++
      break
    }
    checkAnswer(request, answer)
    if (answer.status < 500) tally.whole++
    else tally.refused++
  }
  clearTimeout(leaving)
  client.leave(false)
}

function makeRequest(random: Random): Sent {
  const target = `/${lastNumber++}`
  const body = 'y'.repeat(random() < 0.15 ? random() * 300_000 : random() * 100)
  const head = (method: string, lines = '') => `${method} ${target} HTTP/1.1\r\nHost: x\r\n${lines}\r\n`
  const chunks = body === '' ? '0\r\n\r\n' : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  switch (Math.floor(random() * 5)) {
    case 0:
      return { method: 'POST', target, text: head('POST', `Content-Length: ${body.length}\r\n`) + body }
    case 1:
      return { method: 'PUT', target, text: head('PUT', 'Transfer-Encoding: chunked\r\n') + chunks }
    case 2:
      return { method: 'HEAD', target, text: head('HEAD') }
    default:
      return { method: 'GET', target, text: head('GET') }
  }
}

function checkAnswer({ method, target }: Sent, { status, body }: Answer): void {
  if (method === 'HEAD' || status >= 500) return
  const expected = status === 413 ? body === target : body.startsWith(`${target}|`) && body.endsWith(`|${target}`)
  if (!expected) throw new Error(`${method} ${target} got ${status} ${JSON.stringify(body.slice(0, 200))}`)
}

interface Answer {
  readonly status: number
  readonly body: string
}

class Client {
  readonly socket: net.Socket
  over = false
  #text = ''
  #wake: () => void = () => {}

  constructor(port: number) {
    this.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const end = () => {
      this.over = true
      this.#wake()
    }
    this.socket.on('data', (bytes: Buffer) => {
      this.#text += bytes.toString('latin1')
      this.#wake()
    })
    this.socket.on('error', () => {})
    this.socket.on('end', end)
    this.socket.on('close', end)
  }

  leave(rudely: boolean): void {
    if (rudely) this.socket.resetAndDestroy()
    else this.socket.destroy()
    this.over = true
    this.#wake()
  }

  /** @returns undefined if the connection ended before the response */
  async nextAnswer(method: string): Promise<Answer | undefined> {
    for (;;) {
      const answer = this.#cut(method)
      if (answer !== undefined && answer.status >= 200) return answer
      if (answer !== undefined) continue
      if (this.over) return undefined
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #cut(method: string): Answer | undefined {
    const headEnd = this.#text.indexOf('\r\n\r\n') + 4
    if (headEnd < 4) return undefined
    const head = this.#text.slice(0, headEnd)
    const status = Number(head.slice(9, 12))
    if (method === 'HEAD' || status < 200) return this.#take(status, headEnd, '')
    if (/transfer-encoding/i.test(head)) return this.#cutChunks(status, headEnd)
    const end = headEnd + Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (Number.isNaN(end)) throw new Error(`no framing: ${head}`)
    return this.#text.length < end ? undefined : this.#take(status, end, this.#text.slice(headEnd, end))
  }

  #cutChunks(status: number, start: number): Answer | undefined {
    let body = ''
    for (let at = start; ; ) {
      const lineEnd = this.#text.indexOf('\r\n', at)
      if (lineEnd < 0) return undefined
      const line = this.#text.slice(at, lineEnd)
      if (!/^[0-9a-f]+$/.test(line)) throw new Error(`bad chunk ${JSON.stringify(line.slice(0, 100))}`)
      const size = Number.parseInt(line, 16)
      at = lineEnd + 2 + size + 2
      if (this.#text.length < at) return undefined
      if (size === 0) return this.#take(status, at, body)
      body += this.#text.slice(lineEnd + 2, at - 2)
    }
  }

  #take(status: number, end: number, body: string): Answer {
    this.#text = this.#text.slice(end)
    return { status, body }
  }
}
