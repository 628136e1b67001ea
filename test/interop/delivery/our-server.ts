import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { ENDPOINTS_TYPE, ITEM_TYPE, PLAN_TYPES, SNAPSHOT } from '#deliver/plan-resource.ts'
import type { EndpointsItem } from '#plan/item.ts'
import { eventually } from '../../support/eventually.ts'
import type { Part } from '../run-parts.ts'
import { GoDeltaClient, namesOf } from './go-delta-client.ts'
import { frameObjects, largeRoute, route, service, serviceObjects } from './plan.ts'
import { ServedObjects } from './served-objects.ts'

const ITEMS = [
  'Gateway/default/main',
  'HTTPRoute/default/s/0',
  'Listener/default/main/http',
  'Service/default/s/80',
  SNAPSHOT,
]
const OBJECTS = [...frameObjects(80, 81), ...serviceObjects('s', '10.0.0.1'), route('s', '/s', service('s'))]

/** A client of grpc-go with the published messages gets plans, edits and removals. */
export const checkProtocol: Part = async (transcript, stops) => {
  const served = await ServedObjects.start(stops, OBJECTS)
  const client = new GoDeltaClient(stops, served.port)
  for (const [what, subscribe] of [
    ['without names', []],
    ['with *', ['*']],
    ['with a name', ['HTTPRoute/default/s/0']],
    ['with a name of another Gateway', ['Secret/default/other']],
  ] as const) {
    client.open()
    client.ask(ITEM_TYPE, { subscribe })
    const response = await client.next('items')
    transcript.check(`a subscription ${what} brings what the Gateway uses`, namesOf(response), ITEMS)
    transcript.check('  with digests as versions', response.wrong, undefined)
  }

  client.open()
  for (const type of [ITEM_TYPE, ENDPOINTS_TYPE]) client.ask(type)
  const items = await client.next('items')
  const endpoints = await client.next('endpoints')
  transcript.check('two types on one stream', [items.type, endpoints.type], [ITEM_TYPE, ENDPOINTS_TYPE])
  transcript.check('endpoints', namesOf(endpoints), ['Endpoints/default/s/80', SNAPSHOT])
  transcript.check('nonces differ', items.nonce === endpoints.nonce, false)

  client.ask(ITEM_TYPE, { nonce: 'forged' })
  client.ask(ITEM_TYPE, { nonce: endpoints.nonce! })
  client.ask(ITEM_TYPE, { unsubscribe: ['*'] })
  served.put(route('s', '/t', service('s')))
  client.acknowledge(endpoints)
  served.put(...serviceObjects('s', '10.0.0.2'))
  const addresses = await client.next('an edit')
  transcript.check('without its nonce, a type waits, and the other one does not', addresses.type, ENDPOINTS_TYPE)
  client.acknowledge(addresses)
  client.acknowledge(items)
  const edit = await client.next('the edit')
  transcript.check('an edit is one resource and the snapshot', namesOf(edit), ['HTTPRoute/default/s/0', SNAPSHOT])

  const proxy = () => served.proxies.at(-1)!
  client.acknowledge(edit, '[{"key":"HTTPRoute/default/s","message":"is bad"}]')
  await eventually('the refusal', () => proxy().refusals.length > 0)
  transcript.check('error_detail of ours is read by object', proxy().refusals, [
    { key: 'HTTPRoute/default/s', message: 'is bad' },
  ])
  served.put(route('other', '/o', service('s')))
  const after = await client.next('the next edit')
  transcript.check('a refused item is not sent again', namesOf(after), ['HTTPRoute/default/other/0', SNAPSHOT])
  client.acknowledge(after, 'some text')
  await eventually('the refusal', () => proxy().refusals[0]?.key === '')
  transcript.check('error_detail of others is a text', proxy().refusals, [{ key: '', message: 'some text' }])

  served.remove(route('s', '/s'), route('other', '/o'))
  const removal = await client.next('the removal')
  transcript.check('removed names', [...removal.removed!].sort(), [
    'HTTPRoute/default/other/0',
    'HTTPRoute/default/s/0',
    'Service/default/s/80',
  ])
  client.acknowledge(removal)
  transcript.check('endpoints go after them', (await client.next('the endpoints')).removed, ['Endpoints/default/s/80'])
  client.tell({ close: true })
  transcript.check('a stream that the client ends', (await client.next('the end')).end, 'OK')
}

/** Streams that go on where another one ended. */
export const checkResumption: Part = async (transcript, stops) => {
  const served = await ServedObjects.start(stops, OBJECTS)
  const client = new GoDeltaClient(stops, served.port)
  const all = (await client.takeAll()).get(ITEM_TYPE)!
  const resume = async (versions: Readonly<Record<string, string>>) => {
    client.open()
    client.ask(ITEM_TYPE, { versions })
    return client.next('the difference')
  }
  const same = await resume(all)
  transcript.check('the same versions bring the snapshot only', [namesOf(same), same.removed], [[SNAPSHOT], undefined])
  transcript.check('  with the same version', same.resources![SNAPSHOT], all[SNAPSHOT])
  const older = await resume({ ...all, 'HTTPRoute/default/s/0': 'older', 'Gone/default/x': 'y' })
  transcript.check('an older version brings the item', namesOf(older), ['HTTPRoute/default/s/0', SNAPSHOT])
  transcript.check('an unknown name is removed', older.removed, ['Gone/default/x'])

  await served.server.close()
  const end = await client.next('the end')
  transcript.check('a server that stops says so', end.end, 'Unavailable: the server is stopping')
  const next = await ServedObjects.start(stops, [...OBJECTS, route('new', '/n', service('s'))], { port: served.port })
  const difference = await resume(all)
  transcript.check('the next server brings the difference', namesOf(difference), ['HTTPRoute/default/new/0', SNAPSHOT])
  await eventually('one stream', () => next.proxies.length === 1)
}

/** Requests that end a stream, and what the client is told. */
export const checkRefusals: Part = async (transcript, stops) => {
  const served = await ServedObjects.start(stops, OBJECTS)
  const client = new GoDeltaClient(stops, served.port)
  const other = ITEM_TYPE.replace('v1', 'v2')
  for (const [what, how, end, type] of [
    ['a wrong token', { token: 'wrong' }, 'Unauthenticated: the token is wrong'],
    ['no token', { token: '' }, 'Unauthenticated: the token is wrong'],
    ['compression', { compressed: true }, 'Unimplemented: this server does not accept compressed messages'],
    [
      'an unknown type',
      {},
      `InvalidArgument: this server has no resources of that type; it has ${PLAN_TYPES.join(' and ')}`,
      other,
    ],
    [
      'no type',
      {},
      `InvalidArgument: this server has no resources of that type; it has ${PLAN_TYPES.join(' and ')}`,
      '',
    ],
    ['a large header', { headerBytes: 20_000 }, 'Unknown: unexpected HTTP status code received from server: 431'],
  ] as const) {
    transcript.check(what, (await client.endOf(how, type))?.replace(/(?<=: 431).*/s, ''), end)
  }
  await client.takeAll({ deadlineMs: 1500 })
  transcript.check('a deadline', (await client.next('the end')).end, 'DeadlineExceeded: context deadline exceeded')
  await eventually('no stream is left', () => served.proxies.length === 0)
  transcript.check('the next stream works', (await client.takeAll()).get(ITEM_TYPE)![SNAPSHOT] !== undefined, true)
}

/** Large plans, slow readers, and connections that are silent for long. */
export const checkLargePlans: Part = async (transcript, stops) => {
  const routes = Array.from({ length: 1000 }, (_, i) => largeRoute(`r${i}`))
  const served = await ServedObjects.start(stops, [...OBJECTS, ...routes])
  const client = new GoDeltaClient(stops, served.port, '-pings', '10s')
  const all = await client.takeAll()
  const sizes = client.events.map(({ bytes = 0 }) => bytes)
  transcript.check('a plan of 8 MiB', sizes.reduce((sum, size) => sum + size) > 8 * 1024 * 1024, true)
  transcript.check('comes in messages that grpc-go takes', Math.max(...sizes) < 4 * 1024 * 1024, true)
  const names = Object.keys(all.get(ITEM_TYPE)!)
  transcript.check('has every route', names.filter((name) => name.startsWith('HTTPRoute/default/r')).length, 1000)

  client.open({ unread: true })
  client.ask(ITEM_TYPE)
  served.put(...serviceObjects('s', '10.0.0.2'))
  await eventually('it waits', () => served.proxies.length === 2)
  const quick = new GoDeltaClient(stops, served.port)
  await quick.takeAll()
  transcript.check('a reader that waits delays no other', served.proxies.length, 3)
  client.tell({ read: true })
  transcript.check('and gets its part when it reads', namesOf(await client.next('a part')).length > 1, true)

  const addresses = Array.from({ length: 120_000 }, (_, i) => ({ host: `2001:db8::${i.toString(16)}`, port: 8080 }))
  const key = 'Endpoints/default/s/80'
  const origin = { kind: 'Service', namespace: 'default', name: 's' }
  served.putItems({ kind: 'endpoints', key, addresses, origin } satisfies EndpointsItem)
  const refused = await client.endOf({}, ENDPOINTS_TYPE)
  transcript.check(
    'an item above the limit of grpc-go ends the stream there',
    refused?.replace(/\([0-9]+ /, '(N '),
    'ResourceExhausted: grpc: received message larger than max (N vs. 4194304)',
  )
  const large = (await client.takeAll({ maxBytes: 16 * 1024 * 1024 })).get(ENDPOINTS_TYPE)!
  transcript.check('with a higher limit it arrives', Object.keys(large).sort(), [key, SNAPSHOT])

  // The client pings every 10 s, the server every 30 s.
  const from = client.events.length
  await new Promise((resolve) => setTimeout(resolve, 35_000))
  transcript.check('a silent stream stays', client.events.length, from)
  served.put(...serviceObjects('s', '10.0.0.3'))
  transcript.check('and brings the next edit', namesOf(await client.next('the edit')), [key, SNAPSHOT])
}

/** TLS with an authority of its own. */
export const checkTls: Part = async (transcript, stops) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-delivery-'))
  stops.defer(() => rmSync(folder, { recursive: true }))
  const { ca, certificate, key } = await createCertificate({ dns: [], ips: ['127.0.0.1'] })
  const authority = join(folder, 'ca.pem')
  writeFileSync(authority, ca)
  const context = createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' })
  const { port } = await ServedObjects.start(stops, OBJECTS, { tls: () => context })
  const client = new GoDeltaClient(stops, port, '-authority', authority)
  const names = Object.keys((await client.takeAll()).get(ITEM_TYPE)!).sort()
  transcript.check('a client that knows the authority gets its plan', names, ITEMS)
  const plain = new GoDeltaClient(stops, port)
  transcript.check('one without TLS does not', (await plain.endOf({}))?.split(':')[0], 'Unavailable')
}
