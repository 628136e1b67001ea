import os from 'node:os'
import ipaddr from 'ipaddr.js'
import { clock } from '#base/clock.ts'
import type { OperatorSocket, OwnMachine, SocketAddress } from './own-machine.ts'

/** Addresses of interfaces change rarely; reading them costs a system call for each. */
const INTERFACES_MS = 5000

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/** Sockets are asked for each time, because listeners change. */
export interface OwnSockets {
  readonly listeners?: () => Iterable<SocketAddress>
  readonly servers?: () => Iterable<OperatorSocket>
  /** Addresses of the interfaces of this machine. */
  readonly interfaces?: () => readonly string[]
}

/**
 * Recognizes sockets that this process listens on. A socket that listens on all addresses has those of all interfaces, and every loopback
 * address.
 */
export function ownMachine({
  listeners = () => [],
  servers = () => [],
  interfaces = interfaceAddresses,
}: OwnSockets): OwnMachine {
  let known: ReadonlySet<string> = new Set()
  let readAtMs = Number.NEGATIVE_INFINITY
  const hasAddress = (address: string) => {
    const now = clock.monotonic()
    if (now - readAtMs >= INTERFACES_MS) {
      known = new Set(interfaces().map(canonical))
      readAtMs = now
    }
    return known.has(address)
  }
  const isLocal = (address: string) => address === '::1' || /^(?:127|0)\./.test(address) || hasAddress(address)
  const isAt = (socket: SocketAddress, address: string, port: number) => {
    if (socket.port !== port) return false
    const host = canonical(socket.address)
    if (host === address || host === 'localhost') return true
    // Linux connects the unspecified address to loopback.
    return WILDCARDS.has(address) || (WILDCARDS.has(host) && isLocal(address))
  }
  return {
    isListener(address, port) {
      for (const socket of listeners()) if (isAt(socket, address, port)) return true
      return false
    },
    serverAt(address, port) {
      for (const socket of servers()) if (isAt(socket, address, port)) return socket.server
      return undefined
    },
    hasAddress,
  }
}

function canonical(host: string): string {
  const [address = ''] = host.split('%')
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : host
}

function interfaceAddresses(): readonly string[] {
  return Object.values(os.networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}
