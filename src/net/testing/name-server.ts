import dgram from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'

const A = 1
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
}

/** A DNS server on a loopback address that serves `names` and records what it was asked. */
export class NameServer {
  readonly names = new Map<string, NamedRecords>()
  readonly asked: string[] = []
  readonly #socket = dgram.createSocket('udp4')

  async start(): Promise<void> {
    this.#socket.on('message', (query, from) => {
      const reply = this.#reply(query)
      if (reply !== undefined) this.#socket.send(reply, from.port, from.address)
    })
    this.#socket.bind(0, '127.0.0.1')
    await once(this.#socket, 'listening')
  }

  /** A resolver that asks this server only. */
  resolver(): dns.Resolver {
    const resolver = new dns.Resolver({ timeout: 500, tries: 1 })
    resolver.setServers([`127.0.0.1:${this.#socket.address().port}`])
    return resolver
  }

  close(): void {
    this.#socket.close()
  }

  /** RFC 1035, 4.1. */
  #reply(query: Buffer): Buffer | undefined {
    const labels: string[] = []
    let at = 12
    for (let length = query[at]!; length > 0; length = query[at]!) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length))
      at += 1 + length
    }
    const type = query.readUInt16BE(at + 1)
    const question = query.subarray(12, at + 5)
    const name = labels.join('.').toLowerCase()
    const family = type === A ? 'a' : 'aaaa'
    this.asked.push(`${name} ${family}`)
    const found = this.names.get(name)
    if (found?.silent === family) return undefined
    const status = found === undefined ? NXDOMAIN : (found.status ?? 0)
    const records = type === A || type === AAAA ? (found?.[family] ?? []) : []
    const head = Buffer.alloc(12)
    query.copy(head, 0, 0, 2)
    head.writeUInt16BE(0x8180 | status, 2)
    head.writeUInt16BE(1, 4)
    head.writeUInt16BE(status === 0 ? records.length : 0, 6)
    return Buffer.concat([head, question, ...records.map((address) => record(type, found?.ttl ?? 30, address))])
  }
}

function record(type: number, ttl: number, address: string): Buffer {
  const bytes =
    type === A
      ? Buffer.from(address.split('.').map(Number))
      : Buffer.from(
          address
            .split(':')
            .map((group) => group.padStart(4, '0'))
            .join(''),
          'hex',
        )
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(ttl, 6)
  head.writeUInt16BE(bytes.length, 10)
  return Buffer.concat([head, bytes])
}
