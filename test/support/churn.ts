import { once } from 'node:events'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { createObjectsFolder, joinYaml, listenersYaml, serviceYaml } from './objects-folder.ts'
import { policyYaml } from './policy-yaml.ts'
import { authoritiesYaml, tlsSecretYaml } from './tls-objects.ts'

/** Between two steps; each adds an endpoint and removes the oldest one. */
const PAUSE_OF_STEP_MS = 40
const LISTED = 3
const CLIENTS = 6
/** Between two requests of a client: some hundred requests a second meet every change, and the machine is not full. */
const PAUSE_MS = 10

export interface ChurnReport {
  readonly answered: number
  /** Every request that was not answered by an endpoint with its own id and body. */
  readonly failed: readonly string[]
  /** Versions of the configuration that were applied. */
  readonly reloads: number
  /** Endpoints that were listed at some time, and those of them that got requests. */
  readonly endpoints: number
  readonly used: number
  /** Serial numbers of the certificates that clients saw. */
  readonly serials: ReadonlySet<string>
  /** Requests that the gateway still counts after the last one. */
  readonly leftInFlight: number
}

/**
 * Runs a gateway with two workers under load while endpoints come and go, and the certificates of the listener and the CA of the backend
 * are replaced. At any time at least one listed endpoint is healthy.
 * @param steps some 20 in a second
 */
export async function runChurn(steps: number): Promise<ChurnReport> {
  await using stops = new AsyncDisposableStack()
  const endpoints: Endpoint[] = []
  stops.defer(() => {
    for (const { close } of endpoints) close()
  })
  for (let i = 0; i < LISTED; i++) endpoints.push(await startEndpoint())
  const port = await freePort()
  const certificateRefs = `certificateRefs: [{ name: front }]`
  const folder = await createObjectsFolder({
    'gateway.yaml': joinYaml(
      listenersYaml('main', [`{ name: https, protocol: HTTPS, port: ${port}, tls: { ${certificateRefs} } }`]),
      policyYaml('churn', 'Service', 'churn', {
        backend: { tls: { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' } },
      }),
    ),
    'endpoints.yaml': endpointsYaml(endpoints),
    'front.yaml': frontYaml(0),
    'trusted.yaml': trustedYaml(0),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))

  const report = { answered: 0, failed: [] as string[], serials: new Set<string>() }
  let isOver = false
  const reloads = () => metric(gateway, 'config_reloads_total\\{[^}]*\\}')
  const removed: { readonly endpoint: Endpoint; readonly reloads: number }[] = []
  const change = async () => {
    for (let step = 1; step <= steps; step++) {
      endpoints.push(await startEndpoint())
      const before = await reloads()
      removed.push({ endpoint: endpoints.at(-1 - LISTED)!, reloads: before })
      await folder.write('endpoints.yaml', endpointsYaml(endpoints))
      if (step % 5 === 0) await folder.write('front.yaml', frontYaml(step / 5))
      if (step % 7 === 0) await folder.write('trusted.yaml', trustedYaml(step))
      gateway.reload()
      // A server stops when no worker uses it any more: the change may have missed the reload that ran, but not the next one.
      while (removed.length > 0 && removed[0]!.reloads + 3 <= before) removed.shift()!.endpoint.stop()
      await sleep(PAUSE_OF_STEP_MS)
    }
    isOver = true
  }
  const clients = Array.from({ length: CLIENTS }, (_, client) => runClient(port, client, () => isOver, report))
  await Promise.all([change(), ...clients])
  const leftInFlight = await metric(gateway, 'requests_in_flight')
  const applied = await reloads()
  await gateway.close()
  // The other ends learn of it later.
  await eventually('the connections of all endpoints are closed', async () => (await connectionsOf(endpoints)) === 0)
  return {
    ...report,
    reloads: applied,
    endpoints: endpoints.length,
    used: endpoints.filter(({ served }) => served() > 0).length,
    leftInFlight,
  }
}

interface Endpoint {
  readonly server: https.Server
  readonly port: number
  readonly served: () => number
  /** Ends idle connections, and others after their request. */
  readonly stop: () => void
  readonly close: () => void
}

/** A server that answers with the id and the body of the request. */
async function startEndpoint(): Promise<Endpoint> {
  let served = 0
  const server = https.createServer(CERTIFICATES.server, async (request, response) => {
    served++
    const body = await readText(request)
    response.end(`${request.headers['x-id']} ${body}`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const { port } = server.address() as AddressInfo
  return { server, port, served: () => served, stop: () => server.close(), close }
}

/** The newest ones. */
function endpointsYaml(endpoints: readonly Endpoint[]): string {
  const listed = endpoints.slice(-LISTED).map(({ port }) => port)
  return serviceYaml('churn', listed)
}

function frontYaml(turn: number): string {
  return tlsSecretYaml('front', turn % 2 === 0 ? CERTIFICATES.server : CERTIFICATES.serverRsa)
}

function trustedYaml(turn: number): string {
  const { ca, serverRsa } = CERTIFICATES
  return authoritiesYaml('trusted', turn % 2 === 0 ? ca : `${ca}${serverRsa.cert}`)
}

interface Tally {
  answered: number
  readonly failed: string[]
  readonly serials: Set<string>
}

/** Sends requests one after the other, some on a new connection. */
async function runClient(port: number, client: number, isOver: () => boolean, tally: Tally): Promise<void> {
  const ca = [CERTIFICATES.ca, CERTIFICATES.serverRsa.cert]
  // A resumed session shows no certificate.
  const identity = { ca, servername: 'server.test', maxCachedSessions: 0 }
  const agent = new https.Agent({ ...identity, keepAlive: true, maxSockets: 1 })
  const fresh = new https.Agent(identity)
  for (let n = 0; !isOver(); n++) {
    const id = `${client}-${n}`
    const body = 'b'.repeat((n * 997) % 20_000)
    try {
      const sent = https.request({
        host: '127.0.0.1',
        port,
        path: '/churn',
        method: n % 3 === 0 ? 'GET' : 'POST',
        agent: n % 10 === 0 ? fresh : agent,
        headers: { 'x-id': id },
      })
      sent.end(n % 3 === 0 ? undefined : body)
      const [response] = await once(sent, 'response')
      tally.serials.add(response.socket.getPeerCertificate().serialNumber)
      const answer = await readText(response)
      const expected = `${id} ${n % 3 === 0 ? '' : body}`
      if (response.statusCode === 200 && answer === expected) tally.answered++
      else tally.failed.push(`${id}: ${response.statusCode} ${answer.slice(0, 100)}`)
    } catch (error) {
      tally.failed.push(`${id}: ${error}`)
    }
    await sleep(PAUSE_MS)
  }
  agent.destroy()
  fresh.destroy()
}

async function metric(gateway: TestGateway, name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  return Number(new RegExp(`^gatewright_${name} (\\d+)$`, 'm').exec(text)?.[1])
}

async function connectionsOf(endpoints: readonly Endpoint[]): Promise<number> {
  const counts = endpoints.map(
    ({ server }) => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count))),
  )
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}
