import type { OperatorServer, OperatorSocket } from '#net/connect/own-machine.ts'
import type { InstanceOptions } from './options.ts'

/** Those that are open. */
type OpenServers = Readonly<Record<OperatorServer, { readonly port: number } | undefined>>

/** Sockets of the servers for operators. A socket is known before it is open, unless its port is free to choose. */
export function operatorSockets(
  options: Pick<InstanceOptions, 'admin' | 'metrics' | 'readiness' | 'api'>,
  open: OpenServers,
): OperatorSocket[] {
  const { admin, metrics, readiness, api } = options
  const servers = Object.entries({ admin, metrics, readiness, ...(api && { api }) }) as [OperatorServer, typeof admin][]
  return servers.map(([server, { host, port }]) => ({ server, address: host, port: open[server]?.port ?? port }))
}
