import { ADMIN_ADDRESS } from '#api/own-ports.ts'
import { hostAndPort } from '#api/process-variables.ts'
import { hostPort } from '#base/host-port.ts'
import { readVariable } from '../environment.ts'
import { UsageError } from '../usage-error.ts'
import { type AdminServer, type ReachedGateway, Unanswered } from './admin-server.ts'

/**
 * The gateway on this machine.
 * @param admin URL of its admin server; undefined: that of the environment
 * @throws UsageError if it is no URL
 */
export function localGateway(admin: string | undefined): ReachedGateway {
  const server = localServer(admin)
  return {
    name: 'the gateway',
    servers: async () => [server],
    server: async () => server,
    [Symbol.dispose]() {},
  }
}

function localServer(admin: string | undefined): AdminServer {
  const { base, setting } = placeOf(admin)
  return {
    name: base.href,
    pod: undefined,
    setting,
    async send(path, signal) {
      try {
        return await fetch(new URL(path, base), { signal, redirect: 'manual' })
      } catch {
        throw new Unanswered(`no gateway responds at ${base.href}; ${setting} is the address of its admin server`)
      }
    },
  }
}

/** Where the admin server is, and the setting that says so. */
function placeOf(admin: string | undefined): { readonly base: URL; readonly setting: string } {
  const variable = 'GATEWRIGHT_ADMIN_ADDR'
  const address = admin === undefined ? readVariable(process.env, variable) : undefined
  if (address !== undefined) {
    const { host, port } = hostAndPort(address)
    return { base: new URL(`http://${hostPort(host, Number(port))}`), setting: variable }
  }
  const base = URL.parse(admin ?? `http://${ADMIN_ADDRESS}`)
  if (base?.protocol !== 'http:') throw new UsageError(`--admin ${admin} is not a URL with scheme http`)
  return { base, setting: '--admin' }
}
