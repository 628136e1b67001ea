import { createSecureContext } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { GatewayPlans } from '#deliver/gateway-plans.ts'
import { HeldVersions, ITEM_TYPE } from '#deliver/plan-resource.ts'
import type { ServedProxy } from '#deliver/proxy-stream.ts'
import { ReplicaClient } from '#deliver/replica-client.ts'
import { isReplica, replicaToken } from '#deliver/replica-token.ts'
import { frame, routeTo, startServer } from '#deliver/testing.ts'
import { eventually } from '#test/support/eventually.ts'

// What a replica passes on to the leader, over real sockets.

const GATEWAY = 'Gateway/default/main'
const SERVER_NAME = 'gatewright-controller.gatewright-system.svc'
const PLAN = [...frame(), ...routeTo('a')]

const credentials = await createCertificate({ dns: [SERVER_NAME], ips: [] })
const token = replicaToken(credentials.key)

/** The hash that a proxy reports which has these items. */
function hashOf(items = PLAN): string {
  const plans = new GatewayPlans()
  plans.take({ version: 1, set: items, removed: [] })
  const held = new HeldVersions()
  const plan = plans.watch(GATEWAY, () => {})
  for (const { name, version } of plan.ofType(ITEM_TYPE)) held.set(name, version)
  return held.snapshot.hash
}

/** A proxy of the replica that follows. */
function proxy(identity: string, inForce = hashOf()): ServedProxy {
  const report = { inForce, trusts: undefined, bindings: new Map(), facts: [], problems: [], unreadable: [] }
  return {
    ...{ gateway: GATEWAY, identity, address: '10.0.0.1', isForwarded: false },
    ...{ isCurrent: true, inForce: 1, refusals: [], report },
  }
}

/** A leader with a plan. `told` has each call, as `name version`, or `-name`. */
async function startLeader() {
  const { ca: authority, certificate: cert, key } = credentials
  const told: string[] = []
  const reasons: string[] = []
  const known = new Map<string, ServedProxy>()
  const rig = await startServer(PLAN, {
    tls: () => createSecureContext({ cert, key }),
    isReplica: (metadata) => isReplica(metadata.get('authorization'), [token]),
    changed: (proxy) => {
      known.set(proxy.identity, proxy)
      told.push(`${proxy.identity} ${proxy.inForce}`)
    },
    left: ({ identity }, why) => {
      known.delete(identity)
      told.push(`-${identity}`)
      reasons.push(why)
    },
  })
  return { ...rig, authority, told, reasons, known }
}

function follow(authority: string, more: { readonly token?: string } = {}) {
  const causes: unknown[] = []
  const client = new ReplicaClient({
    ...{ authority, serverName: SERVER_NAME, token },
    log: (_, __, { cause }) => causes.push(cause),
    ...more,
  })
  onTestFinished(() => client.close())
  return { client, causes }
}

test('the leader gets all proxies of a replica, and then each change', async () => {
  const leader = await startLeader()
  const { client } = follow(leader.authority)
  const [first, second] = [proxy('first'), proxy('second', 'of an older version')]
  client.changed(first)
  client.changed(second)
  client.follow(leader.url)
  await expect.poll(() => leader.told).toEqual(['first 1', 'second 0'])
  expect(leader.known.get('first')).toMatchObject({ gateway: GATEWAY, isForwarded: true, isCurrent: true })
  client.changed({ ...second, report: first.report })
  await expect.poll(() => leader.told.at(-1)).toBe('second 1')
  // An older connection of the same proxy.
  client.left(second)
  client.left(first)
  await expect.poll(() => leader.told.at(-1)).toBe('-first')
  expect([...leader.known.keys()]).toEqual(['second'])
  client.follow(undefined)
  await expect.poll(() => leader.told.at(-1)).toBe('-second')
})

test('a version is known by its contents, also before the leader has it', async () => {
  const leader = await startLeader()
  const { client } = follow(leader.authority)
  client.follow(leader.url)
  const [route] = routeTo('a')
  const edited = { ...route, created: 'later' }
  const next = hashOf([...PLAN.filter(({ key }) => key !== route.key), edited])
  client.changed(proxy('ahead', next))
  client.changed(proxy('behind'))
  await expect.poll(() => leader.told).toEqual(['ahead 0', 'behind 1'])
  leader.edit([edited])
  await expect.poll(() => leader.told.slice(2)).toEqual(['ahead 2'])
  expect([...leader.known.values()].map(({ inForce }) => inForce)).toEqual([2, 1])
  // A change of other Gateways is none for them.
  leader.edit(routeTo('b').slice(1))
  expect([...leader.known.values()].map(({ inForce }) => inForce)).toEqual([3, 1])
})

test('a new leader gets all of it, and the proxies leave the one before', async () => {
  const [a, b] = [await startLeader(), await startLeader()]
  const { client } = follow(a.authority)
  client.changed(proxy('first'))
  client.follow(a.url)
  await expect.poll(() => a.told).toEqual(['first 1'])
  client.follow(b.url)
  await expect.poll(() => b.told).toEqual(['first 1'])
  await expect.poll(() => a.told).toEqual(['first 1', '-first'])
})

test('a replica that loses its connection comes back with all of it', async () => {
  const leader = await startLeader()
  const { client, causes } = follow(leader.authority)
  client.changed(proxy('first'))
  client.follow(`https://127.0.0.1:1`)
  await eventually('a failure', () => causes.length > 0)
  client.follow(leader.url)
  await expect.poll(() => leader.told).toEqual(['first 1'])
  await leader.server.close()
  await expect.poll(() => leader.told).toEqual(['first 1', '-first'])
  expect(leader.reasons).toEqual(['its replica: the server is stopping'])
  await expect.poll(() => causes.length).toBeGreaterThan(1)
})

test('nobody else can report: another token is refused, and another server is not asked', async () => {
  const leader = await startLeader()
  const stranger = follow(leader.authority, { token: replicaToken('another key') })
  stranger.client.changed(proxy('first'))
  stranger.client.follow(leader.url)
  await expect.poll(() => stranger.causes).toEqual(['UNAUTHENTICATED: the token is not that of a replica'])
  expect(leader.refused).toContain('the token is not that of a replica')
  const other = await createCertificate({ dns: [SERVER_NAME], ips: [] })
  const deceived = follow(other.ca)
  deceived.client.changed(proxy('first'))
  deceived.client.follow(leader.url)
  await eventually('a refused certificate', () => `${deceived.causes[0]}`.includes('certificate'))
  expect(leader.told).toEqual([])
})

test('a server without replicas does not have the method', async () => {
  const { ca, certificate: cert, key } = credentials
  const { url } = await startServer(PLAN, { tls: () => createSecureContext({ cert, key }) })
  const { client, causes } = follow(ca)
  client.follow(url)
  await expect.poll(() => causes[0]).toMatch(/^UNIMPLEMENTED: this server only has /)
})

test('the token is from the key, and compared as a whole', () => {
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect(replicaToken(credentials.key)).toBe(token)
  expect(
    [`Bearer ${token}`, token, `bearer ${token}`, 'Bearer ', '', undefined].map((it) => isReplica(it, [token])),
  ).toEqual([true, false, false, false, false, false])
})
