import {
  Client,
  credentials,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
} from '@grpc/grpc-js'
import { expect, onTestFinished, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { PlanItem } from '#plan/item.ts'
import { envoyService } from '#test/support/envoy-definitions.ts'
import { eventually } from '#test/support/eventually.ts'
import { DELTA_PATH } from './discovery-messages.ts'
import {
  ENDPOINTS_TYPE,
  HeldVersions,
  ITEM_TYPE,
  type PlanType,
  resourceOf,
  snapshotResource,
} from './plan-resource.ts'
import { frame, routeTo, startClient, startServer } from './testing.ts'

// Another implementation of gRPC and of the published messages on the other side.

const service = envoyService(
  'envoy/service/discovery/v3/ads.proto',
  'envoy.service.discovery.v3.AggregatedDiscoveryService',
)
const method = service.DeltaAggregatedResources as MethodDefinition<object, Response>

interface Request {
  readonly typeUrl: string
  readonly node: { readonly id: string; readonly metadata: object | null } | null
  readonly initialResourceVersions: Readonly<Record<string, string>>
  readonly responseNonce: string
  readonly errorDetail: { readonly message: string } | null
}

interface Response {
  readonly typeUrl: string
  readonly nonce: string
  readonly resources: readonly {
    readonly name: string
    readonly version: string
    readonly resource: { readonly type_url: string }
  }[]
  readonly removedResources: readonly string[]
}

const PLAN = [...frame(), ...routeTo('a')]

test('their client gets the plan, edits and removals', async () => {
  const server = await startServer(PLAN)
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure())
  onTestFinished(() => client.close())
  const call = client.makeBidiStreamRequest(DELTA_PATH, method.requestSerialize, method.responseDeserialize)
  const responses: Response[] = []
  call.on('data', (response: Response) => {
    responses.push(response)
    call.write({ typeUrl: response.typeUrl, responseNonce: response.nonce })
  })
  let status: { code: number; details: string } | undefined
  call
    .on('error', () => {})
    .on('status', (end) => {
      status = end
    })
  for (const typeUrl of [ENDPOINTS_TYPE, ITEM_TYPE]) call.write({ node: { id: 'theirs' }, typeUrl })
  await eventually('whole', () => server.proxy()?.isCurrent)
  const names = ({ resources }: Response) => resources.map(({ name }) => name).sort()
  expect(responses.map((response) => [response.typeUrl, names(response)])).toEqual([
    [ENDPOINTS_TYPE, ['Endpoints/default/a/80', 'snapshot']],
    [
      ITEM_TYPE,
      [
        'Gateway/default/main',
        'HTTPRoute/default/a/0',
        'Listener/default/main/http',
        'Service/default/a/80',
        'snapshot',
      ],
    ],
  ])
  for (const { typeUrl, resources } of responses)
    for (const { resource, version } of resources) {
      expect(resource.type_url).toBe(typeUrl)
      expect(version).toMatch(/^[0-9a-f]{64}$/)
    }
  server.edit([], ['HTTPRoute/default/a/0'])
  await eventually('removed', () => responses.length === 4)
  expect(responses.slice(2).map(({ removedResources }) => removedResources)).toEqual([
    ['HTTPRoute/default/a/0', 'Service/default/a/80'].sort(),
    ['Endpoints/default/a/80'],
  ])
  server.server.revoke(() => true, 'das Konto ist gelöscht')
  await eventually('ended', () => status !== undefined)
  expect(status).toMatchObject({ code: 16, details: 'das Konto ist gelöscht' })
})

/** A delta server on their implementation. Each stream gets `answer`. */
async function startTheirs(answer: (request: Request, call: ServerDuplexStream<Request, object>) => void) {
  const requests: Request[] = []
  const server = new Server()
  server.addService(service, {
    DeltaAggregatedResources: (call: ServerDuplexStream<Request, object>) => {
      call.on('data', (request: Request) => {
        requests.push(request)
        answer(request, call)
      })
      call.on('end', () => call.end())
      call.on('error', () => {})
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  onTestFinished(() => server.forceShutdown())
  return { url: `http://127.0.0.1:${port}`, requests }
}

/** A whole response. @param more resources as they are on the wire */
function wholeOf(type: PlanType, items: readonly PlanItem[], nonce: string, count?: number): object {
  const held = new HeldVersions()
  const resources = items.map(resourceOf).filter((resource) => resource.type === type)
  for (const { name, version } of resources) held.set(name, version)
  const { hash } = held.snapshot
  const snapshot = snapshotResource(type, { count: count ?? resources.length, hash })
  return {
    typeUrl: type,
    nonce,
    resources: [...resources, snapshot].map(({ name, version, value }) => ({
      name,
      version,
      resource: { type_url: type, value },
    })),
  }
}

test('our client gets a plan of their server, and goes on where it was on the next stream', async () => {
  const { url, requests } = await startTheirs(({ typeUrl, node, responseNonce }, call) => {
    // Some servers answer every request.
    if (node?.metadata) call.write({ typeUrl, nonce: 'report' })
    else if (responseNonce === '') call.write(wholeOf(typeUrl as PlanType, PLAN, `n-${typeUrl}`))
    else if (responseNonce === `n-${ITEM_TYPE}`) call.end()
  })
  const { client, target } = startClient(url)
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(target.keys).toHaveLength(5)
  await eventually(
    'again',
    () => requests.filter(({ responseNonce }) => responseNonce === `n-${ITEM_TYPE}`).length === 2,
  )
  const first = requests.filter(({ typeUrl, node }) => typeUrl === ITEM_TYPE && node && !node.metadata)
  expect(Object.keys(first[0]!.initialResourceVersions)).toEqual([])
  expect(Object.keys(first[1]!.initialResourceVersions)).toHaveLength(4)
  expect(first[0]!.node!.id).toBe('pod-1')
  expect(requests.every(({ errorDetail }) => errorDetail === null)).toBe(true)
  await eventually('acknowledged', () => requests.some(({ responseNonce }) => responseNonce === 'report'))
})

test('a version with something that cannot be read is refused by name, without its text; the next one applies', async () => {
  const bad = (name: string, json: string) => ({ ...resourceOf(PLAN[0]!), name, value: Buffer.from(json, 'latin1') })
  const text = (json: string) => `\n${String.fromCharCode(json.length)}${json}`
  const broken = [
    bad('Secret/default/a', text('{"password-x')),
    bad('Secret/default/b', text('{"kind":"password-x"}')),
    bad('Secret/default/c', text('{"kind":"secret","key":"other"}')),
    bad('Secret/default/d', 'password-x'),
    bad('Endpoints/default/e', text('{"kind":"endpoints","key":"Endpoints/default/e"}')),
    bad('Policy/f', text('{"kind":"policy","key":"Policy/f","section":"traffic","field":"newer"}')),
    bad('Policy/g', text('{"kind":"policy","key":"Policy/g","section":"newer","field":"a"}')),
    bad('UDPRoute/h', text('{"kind":"udp-route","key":"UDPRoute/h","attachments":[]}')),
  ]
  const held = new HeldVersions()
  const good = PLAN.map(resourceOf).filter(({ type }) => type === ITEM_TYPE)
  for (const { name, version } of [...good, ...broken]) held.set(name, version)
  const all = [...good, ...broken, snapshotResource(ITEM_TYPE, held.snapshot)]
  const streams: ServerDuplexStream<Request, object>[] = []
  const { url, requests } = await startTheirs(({ typeUrl, node, responseNonce }, call) => {
    if (responseNonce !== '' || node?.metadata) return
    if (typeUrl === ENDPOINTS_TYPE) return void call.write(wholeOf(ENDPOINTS_TYPE, PLAN, '1'))
    const resources = all.map(({ name, version, value }) => ({
      name,
      version,
      resource: { type_url: ITEM_TYPE, value },
    }))
    call.write({ typeUrl, nonce: '2', resources })
    streams.push(call)
  })
  const { client, target } = startClient(url)
  const nack = await eventually('refused', () => requests.find(({ responseNonce }) => responseNonce === '2'))
  expect(JSON.parse(nack.errorDetail!.message)).toEqual([
    { key: 'Secret/default/a', message: 'the item is not JSON' },
    { key: 'Secret/default/b', message: 'the item has another name than its resource' },
    { key: 'Secret/default/c', message: 'the item has another name than its resource' },
    { key: 'Secret/default/d', message: 'the resource is not a message of its type' },
    { key: 'Endpoints/default/e', message: 'the kind of the item does not belong to its type' },
    { key: 'Policy/f', message: 'it needs a newer version of the proxy' },
    { key: 'Policy/g', message: 'it needs a newer version of the proxy' },
    { key: 'UDPRoute/h', message: 'it needs a newer version of the proxy' },
  ])
  expect(target.deltas).toEqual([])
  expect(client.whyNotReady).toBe(
    'the plan of the controller has Secret/default/a, which cannot be read: the item is not JSON',
  )
  const removedResources = broken.map(({ name }) => name)
  streams[0]!.write({ ...wholeOf(ITEM_TYPE, PLAN, '3'), removedResources })
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(target.keys).toHaveLength(5)
})

test('a snapshot that does not fit is refused, and everything is asked for anew', async () => {
  let streams = 0
  const { url, requests } = await startTheirs(({ typeUrl, node, responseNonce }, call) => {
    if (responseNonce !== '' || node?.metadata) return
    if (typeUrl === ENDPOINTS_TYPE) return void call.write(wholeOf(ENDPOINTS_TYPE, PLAN, '1'))
    call.write(++streams === 1 ? wholeOf(ITEM_TYPE, PLAN, '2', 99) : wholeOf(ITEM_TYPE, PLAN, '3'))
  })
  const { client, target } = startClient(url)
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(streams).toBe(2)
  expect(target.deltas).toHaveLength(1)
  expect(requests.find(({ responseNonce }) => responseNonce === '2')!.errorDetail!.message).toContain(
    'the snapshot has 99 resources, but 4 were received',
  )
})

test('a server whose plan is never whole is asked less and less often', async () => {
  const waits: number[] = []
  const after = clock.after
  clock.after = (ms, run) => {
    if (ms % 100 !== 0 || ms > 15_000) return after(ms, run)
    waits.push(ms)
    return after(0, run)
  }
  onTestFinished(() => {
    clock.after = after
  })
  const { url } = await startTheirs(({ typeUrl, node, responseNonce }, call) => {
    if (responseNonce !== '' || node?.metadata) return
    call.write(wholeOf(typeUrl as PlanType, PLAN, '1', typeUrl === ITEM_TYPE ? 99 : undefined))
  })
  startClient(url, { random: () => 1 })
  await eventually('tried', () => waits.length > 10)
  expect(waits.slice(0, 10)).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000])
})

test('what is not there any more after everything was received anew is removed', async () => {
  let streams = 0
  const { url } = await startTheirs(({ typeUrl, node, responseNonce }, call) => {
    if (responseNonce !== '' || node?.metadata) return
    if (typeUrl === ENDPOINTS_TYPE) return void call.write(wholeOf(ENDPOINTS_TYPE, PLAN, '1'))
    call.write(wholeOf(ITEM_TYPE, ++streams === 1 ? PLAN : PLAN.slice(0, 2), `${streams + 1}`))
    if (streams === 1) setTimeout(() => call.write(wholeOf(ITEM_TYPE, [], 'broken', 7)), 20)
  })
  const { target } = startClient(url)
  await eventually('removed', () => target.deltas.length === 2)
  expect(target.keys).toEqual(['Endpoints/default/a/80', 'Gateway/default/main', 'Listener/default/main/http'])
})
