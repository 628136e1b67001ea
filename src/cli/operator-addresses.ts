import { LOOPBACK, OWN_PORTS } from '#api/own-ports.ts'
import { hostAndPort, type VariableName } from '#api/process-variables.ts'
import type { HostPort } from '#instance/options.ts'
import type { OperatorServer, OperatorSocket } from '#net/connect/own-machine.ts'
import { type Environment, readVariable } from './environment.ts'

/** Where a gateway with this environment has its servers for operators. The API can be switched off. */
export type OperatorAddresses = Readonly<
  Record<Exclude<OperatorServer, 'api'>, HostPort> & { api: HostPort | undefined }
>

type Ports = Readonly<Record<'admin' | 'metrics' | 'readiness', number>>

/** @param bind the default of the servers that others may reach (`--bind`) */
export function operatorAddresses(environment: Environment, bind: string, ports: Ports = OWN_PORTS): OperatorAddresses {
  return {
    admin: address(environment, 'GATEWRIGHT_ADMIN_ADDR', { host: LOOPBACK, port: ports.admin }),
    metrics: address(environment, 'GATEWRIGHT_STATS_ADDR', { host: bind, port: ports.metrics }),
    readiness: address(environment, 'GATEWRIGHT_READINESS_ADDR', { host: bind, port: ports.readiness }),
    api: apiAddress(environment),
  }
}

/** The same as sockets, for checks without a running gateway. */
export function operatorSockets(environment: Environment, bind: string = LOOPBACK): readonly OperatorSocket[] {
  const { admin, metrics, readiness, api } = operatorAddresses(environment, bind)
  const sockets = Object.entries({ admin, metrics, readiness, ...(api && { api }) }) as [OperatorServer, HostPort][]
  return sockets.map(([server, { host, port }]) => ({ server, address: host, port }))
}

/** Undefined: the API is switched off. */
function apiAddress(environment: Environment): HostPort | undefined {
  if (readVariable(environment, 'GATEWRIGHT_API_ADDR') === 'off') return undefined
  return address(environment, 'GATEWRIGHT_API_ADDR', { host: LOOPBACK, port: OWN_PORTS.api })
}

/** `host:port` from the environment, `[::1]:0` for IPv6. */
export function address(environment: Environment, name: VariableName, otherwise: HostPort): HostPort {
  const text = readVariable(environment, name)
  if (text === undefined) return otherwise
  const { host, port } = hostAndPort(text)
  return { host, port: Number(port) }
}
