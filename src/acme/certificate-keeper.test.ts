import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { GatewayObject } from '#api/gateway.ts'
import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { secretData } from '#api/secret-data.ts'
import type { Finding } from '#base/finding.ts'
import type { WantedCertificate } from '#control/gateways/acme.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import type { ObjectSource, Statuses } from '#store/store.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { eventually } from '#test/support/eventually.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { CertificateKeeper } from './certificate-keeper.ts'
import { lockFile } from './file-lock.ts'
import { IssuedCertificates } from './issued-certificates.ts'
import { type FakeAcmeServer, startFakeAcmeServer } from './testing.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const GATEWAY = admitObject({
  kind: 'Gateway',
  metadata: { name: 'main' },
  spec: {
    gatewayClassName: 'gatewright',
    listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }],
  },
}) as ApiObject as unknown as GatewayObject

let stops: AsyncDisposableStack
let time: PassingTime
let folder: string
let server: FakeAcmeServer
let issued: IssuedCertificates
/** Answers challenges as the listeners do. */
let answers = true

const filesOf = (at: string) => ({
  pathOf: (name: string) => join(at, name),
  read: <T>(name: string, parse: (text: string) => T) =>
    readdirSync(at).includes(name) ? parse(readFileSync(join(at, name), 'utf8')) : undefined,
  write: (name: string, text: string) => writeFileSync(join(at, name), text, { mode: 0o600 }),
})

beforeEach(async () => {
  stops = new AsyncDisposableStack()
  time = stops.use(new PassingTime())
  folder = temporaryFolder()
  issued = new IssuedCertificates(filesOf(folder))
  answers = true
  const gateway = http.createServer((request, response) => {
    const token = request.url!.split('/').at(-1)
    response.end(answers ? `${token}.${issued.account.thumbprint}` : 'welcome')
  })
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve))
  stops.defer(() => new Promise<void>((resolve) => void gateway.close(() => resolve())))
  stops.defer(() => gateway.closeAllConnections())
  const { port } = gateway.address() as AddressInfo
  server = stops.use(await startFakeAcmeServer((_, path) => `http://127.0.0.1:${port}${path}`))
})

afterEach(() => stops.disposeAsync())

function wanted(more: Partial<WantedCertificate> = {}): WantedCertificate {
  const { directory } = server
  const secret = { namespace: 'default', name: 'door' }
  return { directory, contacts: [], secret, hostnames: ['a.test', 'b.test'], gateways: [GATEWAY], ...more }
}

function keep(certificates = issued) {
  const found = new Map<string, readonly Finding[]>()
  const log: string[] = []
  const bugs: unknown[] = []
  const keeper = new CertificateKeeper({
    issued: certificates,
    lock: join(folder, 'acme.lock'),
    answering: async () => {},
    found: (gateway, findings) => found.set(gateway, findings),
    log: (_, message, fields) => log.push(`${message} ${JSON.stringify(fields)}`),
    reportBug: (error) => bugs.push(error),
  })
  stops.defer(() => keeper.close())
  return { keeper, log, bugs, messages: () => [...found.values()].flat().map(({ message }) => message), found }
}

const orders = () => server.requests.filter((path) => path === '/order').length
const serial = () => issued.find('default/door')?.certificate

test('a certificate is issued for all hosts, kept for the next process, and renewed after two thirds of its life', async () => {
  const { keeper, log } = keep()
  keeper.update([wanted({ contacts: ['mailto:ops@a.test'] })])
  const first = await eventually('the certificate is issued', serial)
  expect(TLS_MATERIAL.validity(first)?.names).toEqual(['a.test', 'b.test'])
  expect(server.contacts).toEqual([['mailto:ops@a.test']])
  expect(log).toHaveLength(2)
  expect(log.join()).not.toContain('PRIVATE')
  for (const name of readdirSync(folder).filter((file) => file !== 'acme.lock')) {
    expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
  }

  const next = new IssuedCertificates(filesOf(folder))
  expect(next.find('default/door')?.certificate).toBe(first)
  expect(next.account.thumbprint).toBe(issued.account.thumbprint)

  time.skip(59 * DAY_MS)
  keeper.update([wanted()])
  expect([orders(), serial()]).toEqual([1, first])
  time.skip(2 * DAY_MS)
  await eventually('the certificate is renewed', () => serial() !== first)
  expect(orders()).toBe(2)
})

test('a failure is a finding with the words of the server, and is tried again later', async () => {
  const detail = 'too many certificates already issued'
  const problem = { type: 'urn:ietf:params:acme:error:rateLimited', detail, subproblems: [{ detail: 'for a.test' }] }
  server.faults.refuseOrders = { status: 429, problem, retryAfter: '7200' }
  const { keeper, messages, found } = keep()
  keeper.update([wanted()])
  await eventually('the failure is reported', () => messages().length === 1)
  expect(messages()[0]).toContain(
    `${server.directory} did not issue the certificate of Secret default/door for a.test, b.test: 429: urn:ietf:params:acme:error:rateLimited: ${detail}; for a.test; the next attempt is at `,
  )
  expect([...found]).toMatchObject([['Gateway/default/main', [{ code: 'certificate-not-issued', severity: 'error' }]]])
  delete server.faults.refuseOrders
  time.skip(1.9 * HOUR_MS)
  keeper.update([wanted()])
  expect(orders()).toBe(1)
  time.skip(0.2 * HOUR_MS)
  await eventually('the certificate is issued', serial)
  await eventually('the finding is gone', () => messages().length === 0)
})

test('a challenge that nobody answers is a failure of its host, which a change of what is wanted tries at once', async () => {
  answers = false
  const { keeper, messages } = keep()
  keeper.update([wanted()])
  await eventually('the failure is reported', () => messages().length === 1)
  expect(messages()[0]).toContain('a.test: urn:ietf:params:acme:error:unauthorized: the answer was "welcome"')
  answers = true
  keeper.update([wanted({ hostnames: ['b.test'] })])
  await eventually('the certificate is issued', serial)
})

test('a nonce that the server refuses is replaced', async () => {
  server.faults.badNonce = true
  const { keeper, messages } = keep()
  keeper.update([wanted()])
  await eventually('the certificate is issued', serial)
  expect(messages()).toEqual([])
})

test('of two processes with a folder, one asks, and the other one takes its certificate', async () => {
  const other = new IssuedCertificates(filesOf(folder))
  const held = lockFile(join(folder, 'acme.lock'))!
  const { keeper } = keep(other)
  keeper.update([wanted()])
  await settled()
  expect(server.requests).toEqual([])
  const { account } = issued
  expect(other.account.thumbprint).toBe(account.thumbprint)
  const pair = await otherPair()
  issued.put({ secret: 'default/door', directory: server.directory, hostnames: ['a.test', 'b.test'], ...pair })
  await eventually('the certificate is taken', () => {
    time.skipTimers(10_000)
    return other.find('default/door')
  })
  expect(orders()).toBe(1)
  held[Symbol.dispose]()
})

const settled = () => new Promise((resolve) => void setImmediate(resolve))

/** From another folder, which the server does not know as the same process. */
async function otherPair() {
  const { AcmeServer } = await import('./acme-server.ts')
  const { orderCertificate } = await import('./order-certificate.ts')
  const contact = { directory: server.directory, contacts: [] }
  const opened = await AcmeServer.open(contact, issued.account, new AbortController().signal)
  return await orderCertificate(opened, ['a.test', 'b.test'])
}

test('a key of an account that cannot be read is a failure, and is not replaced', async () => {
  writeFileSync(join(folder, 'acme-account.pem'), 'no key')
  const { keeper, messages } = keep()
  keeper.update([wanted()])
  await eventually('the failure is reported', () => messages().length === 1)
  expect(messages()[0]).toContain('has no key of an account; remove it, and a new account is made')
  expect(readFileSync(join(folder, 'acme-account.pem'), 'utf8')).toBe('no key')
})

test('issued certificates are Secrets beside the objects of a store, which take precedence', async () => {
  issued.put({
    secret: 'default/door',
    directory: server.directory,
    hostnames: ['a.test', 'b.test'],
    ...(await otherPair()),
  })
  const own = admitObject({ kind: 'Secret', metadata: { name: 'door' }, stringData: { 'tls.crt': 'own' } })
  const empty = { set: [], removed: [] }
  const changes: ObjectChange[] = [empty, { set: [own], removed: [] }, { set: [], removed: [own] }, empty]
  let list: readonly ApiObject[] = []
  const store = { takeChange: () => changes.shift()!, list: () => list, subscribe: () => () => {} }
  const joined = issued.addTo(store as Partial<ObjectSource & Statuses> as ObjectSource & Statuses)
  const crt = ({ set }: ObjectChange) => set.map((object) => secretData(object as never)['tls.crt'])
  expect(crt(joined.takeChange())).toEqual([serial()])
  expect(joined.list()).toHaveLength(1)
  list = [own]
  expect(crt(joined.takeChange())).toEqual(['own'])
  expect(joined.list()).toEqual([own])
  const back = joined.takeChange()
  expect([crt(back), back.removed]).toEqual([[serial()], []])
  expect(joined.takeChange()).toMatchObject(empty)
})
