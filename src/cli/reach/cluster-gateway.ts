import { request } from 'node:http'
import { Readable } from 'node:stream'
import { suggest } from '#base/suggest.ts'
import type { ApiClient } from '#cluster/api-client.ts'
import { ApiUnreadable } from '#cluster/api-unreadable.ts'
import { forwardPort } from '#cluster/forward-port.ts'
import { type GatewayPod, nameOf, podsOfGateway } from '#cluster/gateway-pods.ts'
import type { ObjectName } from '#cluster/object-path.ts'
import { type AdminServer, type ReachedGateway, Unanswered } from './admin-server.ts'

/**
 * The pods of a Gateway of a cluster.
 * @param pod only this one
 */
export function clusterGateway(client: ApiClient, gateway: ObjectName, pod: string | undefined): ReachedGateway {
  const pods = async () => chosenPods(await podsOfGateway(client, gateway), gateway, pod)
  const serversOf = (found: readonly GatewayPod[], isUsable: (each: GatewayPod) => boolean) => {
    const usable = found.filter(isUsable)
    if (usable.length > 0) return usable.map((each) => podServer(client, each))
    const states = found.map(({ name, notReady }) => `${name}: ${notReady}`).join('; ')
    throw new ApiUnreadable(`no pod of Gateway ${nameOf(gateway)} is ready (${states})`)
  }
  return {
    name: `Gateway ${nameOf(gateway)}`,
    servers: async () => serversOf(await pods(), ({ isRunning }) => isRunning),
    // A pod that somebody names is asked whether it is ready or not.
    server: async () =>
      serversOf(await pods(), ({ isRunning, notReady }) =>
        pod === undefined ? notReady === undefined : isRunning,
      )[0]!,
    [Symbol.dispose]: () => client[Symbol.dispose](),
  }
}

/** @param pod only this one @throws ApiUnreadable if there is no such pod */
export function chosenPods(
  pods: readonly GatewayPod[],
  gateway: ObjectName,
  pod: string | undefined,
): readonly GatewayPod[] {
  if (pod === undefined) return pods
  const found = pods.filter(({ name }) => name === pod)
  if (found.length > 0) return found
  const names = pods.map(({ name }) => name)
  const near = suggest(pod, names)
  const hint = near === undefined ? `it has ${names.join(', ')}` : `did you mean ${near}?`
  throw new ApiUnreadable(`Gateway ${nameOf(gateway)} has no pod ${pod}; ${hint}`)
}

/** The admin server of a pod, which listens on the loopback address of the pod. Each request has a connection of its own. */
export function podServer(client: ApiClient, { namespace, name, adminPort }: GatewayPod): AdminServer {
  const described = `pod ${namespace}/${name}`
  return {
    name: described,
    pod: name,
    setting: 'GATEWRIGHT_ADMIN_ADDR of its container',
    async send(path, signal) {
      try {
        const connection = await forwardPort(client, { namespace, pod: name, port: adminPort }, signal)
        return await ask(connection, { path, host: `127.0.0.1:${adminPort}` }, signal)
      } catch (error) {
        if (signal.aborted) throw new Unanswered(`${described} did not answer in time`)
        throw new Unanswered(`${described} cannot be asked: ${(error as Error).message}`)
      }
    },
  }
}

function ask(
  connection: Awaited<ReturnType<typeof forwardPort>>,
  { path, host }: { readonly path: string; readonly host: string },
  signal: AbortSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const asked = request({ createConnection: () => connection, path, headers: { host }, signal }, (response) => {
      response.on('error', () => connection.destroy())
      const headers = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
      const body = Readable.toWeb(response) as ReadableStream<Uint8Array>
      resolve(new Response(body, { status: response.statusCode ?? 0, headers }))
    })
    asked.on('error', reject)
    asked.end()
  })
}
