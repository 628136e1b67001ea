import os from 'node:os'
import ipaddr from 'ipaddr.js'
import { clock } from '#base/clock.ts'
import type { IsOwnSocket } from './forward-rules.ts'

/** The address and port of a listening socket. */
export interface SocketAddress {
  readonly address: string
  readonly port: number
}

/** Addresses of interfaces change rarely; reading them costs a system call for each. */
const INTERFACES_MS = 5000

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * Recognizes sockets that this process listens on. A socket that listens on all addresses has those of all interfaces, and every loopback
 * address.
 * @param listening asked for each address, because listeners change
 * @param interfaces addresses of the interfaces of this machine
 */
export function ownSockets(
  listening: () => Iterable<SocketAddress>,
  interfaces: () => readonly string[] = interfaceAddresses,
): IsOwnSocket {
  let known: ReadonlySet<string> = new Set()
  let readAtMs = Number.NEGATIVE_INFINITY
  const isLocal = (address: string) => {
    if (address === '::1' || address === '::' || /^(?:127|0)\./.test(address)) return true
    const now = clock.monotonic()
    if (now - readAtMs >= INTERFACES_MS) {
      known = new Set(interfaces())
      readAtMs = now
    }
    return known.has(address)
  }
  return (address, port) => {
    for (const socket of listening()) {
      if (socket.port !== port) continue
      const host = canonical(socket.address)
      if (host === address || host === 'localhost') return true
      // Linux connects the unspecified address to loopback.
      if (WILDCARDS.has(address)) return true
      if (WILDCARDS.has(host) && isLocal(address)) return true
    }
    return false
  }
}

function canonical(host: string): string {
  return ipaddr.isValid(host) ? ipaddr.process(host).toString() : host
}

function interfaceAddresses(): readonly string[] {
  return Object.values(os.networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}
