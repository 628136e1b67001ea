import dgram from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import net from 'node:net'

const A = 1
const CNAME = 5
const AAAA = 28
const NXDOMAIN = 3

/** Records of a name; a status code refuses the query; `silent` ignores it. */
export interface NamedRecords {
  readonly a?: readonly string[]
  /** In full, without `::`. */
  readonly aaaa?: readonly string[]
  readonly ttl?: number
  readonly status?: number
  readonly silent?: 'a' | 'aaaa'
  /** Other names of it, in the order of the chain; the addresses are those of the last one. */
  readonly aliases?: readonly string[]
  /** Over UDP the answer is empty and marked as truncated; TCP has the whole one. */
  readonly truncated?: true
}

/** A DNS server on a loopback address that serves `names` and records what it was asked. */
export class NameServer {
  readonly names = new Map<string, NamedRecords>()
  readonly asked: string[] = []
  readonly #socket = dgram.createSocket('udp4')
  readonly #connections = new Set<net.Socket>()
  readonly #stream = net.createServer((socket) => this.#serve(socket))
  /** Queries that `silent` ignored, with the way to answer them. */
  #ignored: (() => void)[] = []

  /** @param port of UDP and TCP; 0: any */
  async start(port = 0): Promise<void> {
    this.#socket.on('message', (query, from) => {
      const answer = () => {
        const reply = this.#reply(query, true)
        if (reply !== undefined) return this.#socket.send(reply, from.port, from.address)
        this.#ignored.push(answer)
      }
      this.asked.push(this.#question(query))
      answer()
    })
    // A free port for TCP is mostly free for UDP, too.
    for (let attempts = 1; ; attempts++) {
      this.#stream.listen(port, '127.0.0.1')
      await once(this.#stream, 'listening')
      try {
        this.#socket.bind((this.#stream.address() as net.AddressInfo).port, '127.0.0.1')
        await once(this.#socket, 'listening')
        return
      } catch (error) {
        if (port !== 0 || attempts === 10) throw error
        this.#stream.close()
        await once(this.#stream, 'close')
      }
    }
  }

  /** Answers the queries that were ignored, from the records of now. */
  answerLate(): void {
    for (const answer of this.#ignored.splice(0)) answer()
  }

  /** A resolver that asks this server only. */
  resolver(): dns.Resolver {
    const resolver = new dns.Resolver({ timeout: 500, tries: 1 })
    resolver.setServers([`127.0.0.1:${this.#socket.address().port}`])
    return resolver
  }

  close(): void {
    this.#socket.close()
    this.#stream.close()
    for (const connection of this.#connections) connection.destroy()
  }

  /** Messages over TCP have a length of two bytes before them (RFC 1035, 4.2.2). */
  #serve(socket: net.Socket): void {
    this.#connections.add(socket)
    socket.on('close', () => this.#connections.delete(socket)).on('error', () => {})
    let received: Buffer = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes])
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const query = received.subarray(2, 2 + received.readUInt16BE(0))
        received = received.subarray(2 + query.length)
        this.asked.push(`${this.#question(query)} tcp`)
        const reply = this.#reply(query, false)
        if (reply !== undefined) socket.write(Buffer.concat([number16(reply.length), reply]))
      }
    })
  }

  #question(query: Buffer): string {
    const { name, family } = parseQuery(query)
    return `${name} ${family}`
  }

  /** RFC 1035, 4.1. */
  #reply(query: Buffer, isDatagram: boolean): Buffer | undefined {
    const { name, type, family, question } = parseQuery(query)
    const found = this.names.get(name)
    if (found?.silent === family) return undefined
    const status = found === undefined ? NXDOMAIN : (found.status ?? 0)
    const { ttl = 30, aliases = [], truncated = false } = found ?? {}
    const names = [name, ...aliases]
    const addresses = type === A || type === AAAA ? (found?.[family] ?? []) : []
    const records = [
      ...aliases.map((alias, i) => record(names[i]!, CNAME, ttl, encodeName(alias))),
      ...addresses.map((address) => record(names.at(-1)!, type, ttl, encodeAddress(type, address))),
    ]
    const isCut = truncated && isDatagram
    const sent = status === 0 && !isCut ? records : []
    const flags = 0x8180 | status | (isCut ? 0x0200 : 0)
    const head = [query.subarray(0, 2), ...[flags, 1, sent.length, 0, 0].map(number16)]
    return Buffer.concat([...head, question, ...sent])
  }
}

function parseQuery(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = query.readUInt16BE(at + 1)
  const family: 'a' | 'aaaa' = type === A ? 'a' : 'aaaa'
  return { name: labels.join('.').toLowerCase(), type, family, question: query.subarray(12, at + 5) }
}

function number16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.from([0])])
}

function encodeAddress(type: number, address: string): Buffer {
  if (type === A) return Buffer.from(address.split('.').map(Number))
  const groups = address.split(':').map((group) => group.padStart(4, '0'))
  return Buffer.from(groups.join(''), 'hex')
}

function record(name: string, type: number, ttl: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(1, 2)
  head.writeUInt32BE(ttl, 4)
  head.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(name), head, data])
}
