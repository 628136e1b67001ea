import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { ITEM_TYPE, PLAN_TYPES, SNAPSHOT } from '#deliver/plan-resource.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import type { Part } from '../run-parts.ts'
import { type ControlPlaneEvent, GoControlPlane } from './go-control-plane.ts'
import { frameObjects, largeRoute, route, service, serviceObjects } from './plan.ts'
import { RunningProxy } from './running-proxy.ts'

/** A server behind the proxy, and what the proxy answers. */
async function startTraffic(stops: AsyncDisposableStack) {
  const upstream = createServer((_, response) => response.end('upstream')).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  stops.defer(() => void upstream.close())
  const port = await freePort()
  const { port: upstreamPort } = upstream.address() as AddressInfo
  const status = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
  return {
    objects: frameObjects(port, upstreamPort),
    status,
    becomes: (path: string, expected: number) =>
      eventually(`${path} is ${expected}`, async () => (await status(path)) === expected),
  }
}

const isRequest = ({ state }: ControlPlaneEvent) => state === 'request'
const isReport = (event: ControlPlaneEvent) => isRequest(event) && event.metadata !== undefined
const isAnswer = (event: ControlPlaneEvent) => isRequest(event) && event.nonce !== undefined

/** `gatewright proxy` gets its plan of go-control-plane. */
export const checkPlan: Part = async (transcript, stops) => {
  const traffic = await startTraffic(stops)
  const control = stops.use(new GoControlPlane())
  const proxy = stops.use(await RunningProxy.start(`http://127.0.0.1:${await control.port()}`))
  await control.until('the proxy asks', ({ type }) => type === ITEM_TYPE)
  transcript.check(
    'asks for both types, with the name of its pod and without names of resources',
    control.requests(({ nonce }) => nonce === undefined),
    PLAN_TYPES.map((type) => ({ stream: 1, state: 'request', type, node: 'pod-1' })),
  )
  await eventually('an answer', async () => (await proxy.readiness()).includes('has not arrived yet'))

  control.put(...traffic.objects, ...serviceObjects('s', '127.0.0.1'), route('r', '/a'), route('s', '/s', service('s')))
  await proxy.ready()
  transcript.check('serves the plan', [await traffic.status('/a'), await traffic.status('/c')], [200, 404])
  const versionOf = ({ metadata }: ControlPlaneEvent) => metadata?.inForce
  const first = await control.until('the report', (event) => isReport(event) && versionOf(event) !== undefined)
  transcript.check('reports what is in force', Object.keys(first.metadata!).sort(), [
    'bindings',
    'facts',
    'inForce',
    'problems',
    'unreadable',
  ])

  const before = control.events.length
  control.put(route('r', '/b'))
  await traffic.becomes('/b', 200)
  const second = await control.until(
    'the report',
    (event) => isReport(event) && versionOf(event) !== versionOf(first),
    before,
  )
  transcript.check('an edit replaces what was there', await traffic.status('/a'), 404)
  transcript.check('another version is in force', typeof versionOf(second), 'string')

  control.remove(route('r', '/b'))
  await traffic.becomes('/b', 404)
  const responses = () => control.events.filter(({ state }) => state === 'response')
  await eventually('all is acknowledged', () =>
    responses().every(
      ({ type, nonce }) => control.requests((one) => one.type === type && one.nonce === nonce).length === 1,
    ),
  )
  transcript.check(
    'acknowledges each response once, without an error',
    control.requests(({ error }) => error !== undefined),
    [],
  )

  // Without a route that it cannot read, the plan would permit more.
  const origin = { kind: 'Later', namespace: 'default', name: 'x' }
  const strange = { kind: 'later', key: 'Later/default/x', attachments: [], origin } as never
  const from = control.events.length
  control.change({ set: [strange, ...control.translate(route('n', '/n')).set], removed: [] })
  const refusal = await control.until('the refusal', ({ error }) => error !== undefined, from)
  transcript.check('refuses what it cannot read, by name', JSON.parse(refusal.error!), [
    { key: 'Later/default/x', message: 'it needs a newer version of the proxy' },
  ])
  const meanwhile = [await traffic.status('/n'), (await proxy.readiness()).slice(0, 3)]
  transcript.check('keeps its last version meanwhile', meanwhile, [404, '200'])
  control.change({ set: [], removed: ['Later/default/x'] })
  await traffic.becomes('/n', 200)
  transcript.check('applies the rest when that is gone', await traffic.status('/n'), 200)
}

/** Connections that the server ends, and servers that start anew. */
export const checkReconnects: Part = async (transcript, stops) => {
  const traffic = await startTraffic(stops)
  const objects = [...traffic.objects, route('r', '/a')]
  const aging = stops.use(new GoControlPlane({ age: '1s', pings: '1s' }))
  const port = await aging.port()
  aging.put(...objects)
  const proxy = stops.use(await RunningProxy.start(`http://127.0.0.1:${port}`))
  await proxy.ready()
  const third = await aging.until('a third stream', ({ state, stream }) => state === 'open' && stream === 3)
  const later = (event: ControlPlaneEvent) => (event.stream ?? 0) > 1
  await aging.until('its plan', (event) => event.state === 'response' && event.stream === 3 && event.type === ITEM_TYPE)
  const names = aging.events
    .filter((event) => event.state === 'response' && later(event))
    .flatMap((event) => event.names ?? [])
  transcript.check('after GOAWAY, the next streams bring no item again', [...new Set(names)], [SNAPSHOT])
  const resumed = aging.requests(
    ({ stream, type, node, metadata }) => stream === third.stream && type === ITEM_TYPE && !!node && !metadata,
  )
  transcript.check('they begin with the versions of all items', Object.keys(resumed[0]!.versions!).sort(), [
    'Gateway/default/main',
    'HTTPRoute/default/r/0',
    'Listener/default/main/http',
    'ProxyBackend/default/b',
  ])
  transcript.check('and the proxy serves all the time', await traffic.status('/a'), 200)

  await aging[Symbol.asyncDispose]()
  await eventually('the loss', () => proxy.log.includes('no connection to the controller'))
  transcript.check('without a server, the proxy serves on', await traffic.status('/a'), 200)

  const empty = stops.use(new GoControlPlane({ port }))
  const removal = await empty.until('removals', ({ type, removed }) => type === ITEM_TYPE && removed !== undefined)
  await empty.until(
    'their acknowledgement',
    (event) => isAnswer(event) && event.type === ITEM_TYPE && event.nonce === removal.nonce,
  )
  transcript.check('a server that starts without a plan removes every item', removal.removed!.length, 4)
  transcript.check('which takes nothing away until a version is whole', await traffic.status('/a'), 200)
  empty.put(...objects, route('t', '/b'))
  await traffic.becomes('/b', 200)
  transcript.check('the next whole version applies', await traffic.status('/a'), 200)

  const before = proxy.log.length
  empty.pause()
  await eventually('the loss', () => proxy.log.slice(before).includes('no connection to the controller'), 90_000)
  transcript.check('a server that hangs is given up after a PING', await traffic.status('/a'), 200)
}

/** go-control-plane sends all that has changed in one message. */
export const checkLargeResponses: Part = async (transcript, stops) => {
  const traffic = await startTraffic(stops)
  const control = stops.use(new GoControlPlane())
  control.put(...traffic.objects, ...Array.from({ length: 900 }, (_, i) => largeRoute(`r${i}`)))
  const proxy = stops.use(await RunningProxy.start(`http://127.0.0.1:${await control.port()}`))
  await proxy.ready()
  const { bytes } = await control.until('the response', ({ state, type }) => state === 'response' && type === ITEM_TYPE)
  transcript.check('a response above the usual limit of 4 MiB', bytes! > 4 * 1024 * 1024, true)
  transcript.check('is applied', [await traffic.status('/r0'), await traffic.status('/r899')], [200, 200])

  const from = control.events.length
  control.put(...Array.from({ length: 1800 }, (_, i) => largeRoute(`s${i}`)))
  await eventually('the refusal', () => proxy.log.includes('the limit is 16777216'))
  transcript.check('one above 16 MiB is refused, and the proxy serves on', await traffic.status('/r899'), 200)
  // The versions of the last stream are those of before, so the difference is as large on each.
  await control.until('another stream', ({ state }) => state === 'open', from)
}

/** TLS with an authority of its own, and tokens. */
export const checkCredentials: Part = async (transcript, stops) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-delivery-'))
  stops.defer(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const { ca, certificate, key } = await createCertificate({ dns: [], ips: ['127.0.0.1'] })
  const other = await createCertificate({ dns: [], ips: ['127.0.0.1'] })
  const token = file('token', 'wrong-token')
  const traffic = await startTraffic(stops)
  const flags = { certificate: file('server.pem', certificate), key: file('server.key', key), token: 'right-token' }
  const control = stops.use(new GoControlPlane(flags))
  control.put(...traffic.objects, route('r', '/a'))
  const authority = file('ca.pem', other.ca)
  const words = ['--controller-ca', authority, '--controller-token', token]
  const proxy = stops.use(await RunningProxy.start(`https://127.0.0.1:${await control.port()}`, ...words))
  const says = (what: string) => eventually(what, async () => (await proxy.readiness()).includes(what))
  await says('certificate-invalid')
  transcript.check('no token goes to a server of another authority', control.events.length, 1)
  writeFileSync(authority, ca)
  await says('UNAUTHENTICATED: the token is wrong')
  transcript.check('a wrong token is told, and is in no log', proxy.log.includes('wrong-token'), false)
  writeFileSync(token, 'right-token')
  await proxy.ready()
  transcript.check('a token that is replaced is read', await traffic.status('/a'), 200)
}
