import { X509Certificate } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { createCertificate } from '#apiserver/credentials/certificates.ts'
import { clock } from '#base/clock.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  type Cluster,
  GATEWAY,
  NAMESPACE,
  SECRET,
  SERVICE,
  startCluster,
  startProxy,
  startReplica,
} from './start-replicas.ts'

/* The certificate of two replicas is replaced, with its authority, while proxies connect all the time. */

const HOST = `${SERVICE}.${NAMESPACE}.svc`
const TIMES = { durationMs: 15_000, giveUpMs: 10_000, retryMs: 100, settleMs: 0 }
const HOUR = 3_600_000
const CHECK_MS = 50
/** Between two handshakes: servers limit the connections of one address. */
const PAUSE_MS = 150

/** A certificate with a life of 12 hours, of this age. */
async function aged(hours: number, host = HOST) {
  const { now } = clock
  clock.now = () => now() - hours * HOUR
  try {
    return await createCertificate({ dns: [host], ips: ['127.0.0.1'] }, 12 * HOUR)
  } finally {
    clock.now = now
  }
}

type Entries = Readonly<Record<string, string>>

const encoded = (entries: Entries) =>
  Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, Buffer.from(value).toString('base64')]))

function createSecret({ write }: Cluster, name: string, entries: Entries) {
  const secret = { kind: 'Secret', metadata: { name }, data: encoded(entries) }
  return write((api) => api.create(`/api/v1/namespaces/${NAMESPACE}/secrets`, secret))
}

async function entriesOf({ read }: Cluster): Promise<Entries> {
  const { data = {} } = await read(SECRET)
  return Object.fromEntries(
    Object.entries(data as Entries).map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]),
  )
}

const countOf = (pem: string | undefined) => pem?.match(/BEGIN CERTIFICATE/g)?.length ?? 0

/** The authorities that proxies get. */
async function trustedIn({ read }: Cluster): Promise<string | undefined> {
  return (await read(`/api/v1/namespaces/default/configmaps/${GATEWAY}`)).data?.['ca.crt']
}

/** Brings the authorities of the ConfigMap into the file of a proxy, as a kubelet does: late, and in one step. */
function mount(cluster: Cluster, file: string, afterMs: number): void {
  let isOver = false
  onTestFinished(() => {
    isOver = true
  })
  const follow = async () => {
    while (!isOver) {
      const authorities = await trustedIn(cluster)
      await sleep(afterMs)
      if (isOver || authorities === undefined) continue
      writeFileSync(`${file}.next`, authorities)
      renameSync(`${file}.next`, file)
    }
  }
  void follow()
}

/** @returns the fingerprint of the certificate of a server, or why a client that trusts these authorities refuses it */
function shakeHands(url: string, authorities: string): Promise<string> {
  return new Promise((resolve) => {
    const { hostname: host, port } = new URL(url)
    const socket = connect({ host, port: Number(port), servername: HOST, ca: authorities, ALPNProtocols: ['h2'] })
    socket.on('error', ({ message }) => resolve(message))
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()!.fingerprint256)
      socket.end()
    })
  })
}

const fingerprintOf = (pem: string | undefined) => new X509Certificate(pem!).fingerprint256

test('authority and certificate are replaced, in an order in which every proxy can connect at any time', async () => {
  const cluster = await startCluster()
  // Its successor comes 5 seconds from now, and has its steps after 2, 4 and 6 seconds.
  const old = await aged(7.96 - 5 / 3600)
  await createSecret(cluster, `${SERVICE}-authority`, {
    'ca.crt': old.ca,
    'tls.crt': old.certificate,
    'tls.key': old.key,
  })
  const source = { lifeMs: 24_000, checkMs: CHECK_MS }
  const a = await startReplica(cluster, 'a', TIMES, source)
  await expect.poll(cluster.holder).toBe('a')
  const b = await startReplica(cluster, 'b', TIMES, source)
  const proxies = [await startProxy(cluster, a, 'pod-a'), await startProxy(cluster, b, 'pod-b')]
  for (const [index, { caFile }] of proxies.entries()) mount(cluster, caFile, 20 + index * 400)

  const seen = new Set<string>()
  let handshakes = 0
  let isOver = false
  onTestFinished(() => {
    isOver = true
  })
  const load = proxies.map(async ({ caFile }) => {
    while (!isOver)
      for (const { url } of [a, b]) {
        seen.add(await shakeHands(url, readFileSync(caFile, 'utf8')))
        handshakes++
        await sleep(PAUSE_MS)
      }
  })
  const last = await eventually('the next certificate, alone', async () => {
    const entries = await entriesOf(cluster)
    return entries['tls.crt'] !== old.certificate && countOf(entries['ca.crt']) === 1 ? entries : undefined
  })
  await eventually('files of it', () => proxies.every(({ caFile }) => readFileSync(caFile, 'utf8') === last['ca.crt']))
  isOver = true
  await Promise.all(load)

  expect([...seen].sort()).toEqual([fingerprintOf(old.certificate), fingerprintOf(last['tls.crt'])].sort())
  expect(handshakes).toBeGreaterThan(50)
  for (const { url } of [a, b]) expect(await shakeHands(url, last['ca.crt']!)).toBe(fingerprintOf(last['tls.crt']))
  expect(await shakeHands(a.url, old.ca)).toContain('certificate')
  // Delivery goes on, between the replicas as well.
  await cluster.edit({ hostnames: ['later.example'] })
  await expect
    .poll(async () => (await a.status()).proxies)
    .toMatchObject([
      { proxy: 'default/pod-a', isCurrent: true },
      { proxy: 'default/pod-b', isCurrent: true },
    ])
  expect(proxies.flatMap(({ causes }) => causes)).toEqual([])
  for (const { log } of [a, b]) expect(log.filter((line) => line.includes(' warn '))).toEqual([])
})

test('a proxy that does not read the next authority is waited for and named, also by the next leader', async () => {
  const cluster = await startCluster()
  const [old, next] = [await aged(9), await aged(1.5)]
  await createSecret(cluster, `${SERVICE}-authority`, {
    ...{ 'ca.crt': old.ca, 'tls.crt': old.certificate, 'tls.key': old.key },
  })
  const source = { lifeMs: 12 * HOUR, checkMs: CHECK_MS }
  const a = await startReplica(cluster, 'a', TIMES, { ...source, checkMs: HOUR })
  await expect.poll(cluster.holder).toBe('a')
  const b = await startReplica(cluster, 'b', TIMES, source)
  const { caFile, causes } = await startProxy(cluster, b, 'pod-b')
  const both = `${old.ca}\n${next.ca}\n`
  await cluster.write((api) =>
    api.merge(SECRET, {
      data: encoded({ 'ca.crt': both, 'next.crt': next.certificate, 'next.key': next.key }),
    }),
  )
  await a.controller.close()
  const said = () => b.log.find((line) => line.includes('do not trust the next authority'))
  expect(await eventually('a warning', said)).toContain('default/pod-b')
  expect((await entriesOf(cluster))['tls.crt']).toBe(old.certificate)
  await expect.poll(() => trustedIn(cluster)).toBe(both)
  writeFileSync(caFile, both)
  await expect.poll(async () => (await entriesOf(cluster))['tls.crt']).toBe(next.certificate)
  expect(await shakeHands(b.url, next.ca)).toBe(fingerprintOf(next.certificate))
  expect(causes).toEqual([])
})

test('a certificate that others renew is taken as it is, without what cannot be used', async () => {
  const cluster = await startCluster()
  const [first, second, foreign] = [await aged(11), await aged(0), await aged(0, 'other.example')]
  const entries = (pair: typeof first) => ({ 'ca.crt': pair.ca, 'tls.crt': pair.certificate, 'tls.key': pair.key })
  await createSecret(cluster, 'from-cert-manager', entries(first))
  const source = { secretName: 'from-cert-manager', lifeMs: 12 * HOUR, checkMs: CHECK_MS }
  const { url, log } = await startReplica(cluster, 'a', TIMES, source)
  expect(await shakeHands(url, first.ca)).toBe(fingerprintOf(first.certificate))
  const path = `/api/v1/namespaces/${NAMESPACE}/secrets/from-cert-manager`
  const renew = (data: Entries) => cluster.write((api) => api.merge(path, { data: encoded(data) }))
  for (const [pair, fault] of [
    [{ ...entries(second), 'tls.key': first.key }, 'the certificate and the key do not match'],
    [{ ...entries(second), 'ca.crt': '' }, 'it contains no complete certificate'],
    [entries(foreign), `the certificate is not valid for ${HOST}`],
  ] as const) {
    await renew(pair)
    await eventually(fault, () => log.some((line) => line.includes(fault)))
    expect(await shakeHands(url, first.ca)).toBe(fingerprintOf(first.certificate))
  }
  await renew(entries(second))
  await expect.poll(() => shakeHands(url, second.ca)).toBe(fingerprintOf(second.certificate))
  await expect.poll(() => trustedIn(cluster)).toBe(second.ca)
  expect((await cluster.read(path)).data).toEqual(encoded(entries(second)))
  expect((await cluster.server.call(SECRET)).status).toBe(404)
})

test('the end of certificates, of the controller and of others, is told in findings, metrics and Events', async () => {
  const cluster = await startCluster()
  const ended = await aged(13)
  const entries = { 'ca.crt': ended.ca, 'tls.crt': ended.certificate, 'tls.key': ended.key }
  await createSecret(cluster, 'of-controller', entries)
  const listeners = [
    { name: 'https', port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'of-listener' }] } },
  ]
  await cluster.write((api) =>
    api.create('/api/v1/namespaces/default/secrets', {
      ...{ kind: 'Secret', metadata: { name: 'of-listener' }, data: encoded(entries) },
    }),
  )
  await cluster.write((api) =>
    api.merge(`/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/${GATEWAY}`, { spec: { listeners } }),
  )
  const source = { secretName: 'of-controller', lifeMs: 12 * HOUR, checkMs: CHECK_MS }
  const { log, metrics } = await startReplica(cluster, 'a', TIMES, source)
  for (const [namespace, name] of [
    [NAMESPACE, 'of-controller'],
    ['default', 'of-listener'],
  ] as const) {
    const events = async () => (await cluster.read(`/api/v1/namespaces/${namespace}/events`)).items ?? []
    const found = await eventually(`an Event about ${name}`, async () =>
      ((await events()) as readonly Told[]).find(({ involvedObject }) => involvedObject.name === name),
    )
    expect(found).toMatchObject({
      type: 'Warning',
      reason: 'Expires',
      message: expect.stringMatching(`^Secret ${namespace}/${name}: the certificate`),
      involvedObject: { kind: 'Secret', namespace, uid: expect.any(String) },
    })
    await eventually(`a line about ${name}`, () =>
      log.some((line) => line.includes('certificate-expired') && line.includes(name)),
    )
  }
  expect(await metrics()).toMatch(
    new RegExp(
      `certificate_expiry_timestamp_seconds\\{object="Secret/${NAMESPACE}/of-controller",entry="tls.crt"\\} \\d+`,
    ),
  )
})

interface Told {
  readonly involvedObject: { readonly name: string }
}
