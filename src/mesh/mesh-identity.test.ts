import { X509Certificate } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clock } from '#base/clock.ts'
import type { MeshMaterial } from '#net/hbone/mesh-material.ts'
import { issue, newAuthority } from '#net/testing/authority.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { verifies } from '#test/support/verifies.ts'
import { MeshIdentity, type MeshIdentityOptions } from './mesh-identity.ts'
import { type FakeCa, startFakeCa } from './testing.ts'

const ID = 'spiffe://mesh.test/ns/shop/sa/main'
const HOUR_MS = 3_600_000

/** An identity with its files, and all that it has published, logged and counted. */
async function rig(more: Partial<MeshIdentityOptions> = {}, lifeMs = 24 * HOUR_MS) {
  const time = new PassingTime()
  onTestFinished(() => time[Symbol.dispose]())
  const ca = await startFakeCa({ forMs: lifeMs })
  onTestFinished(() => ca[Symbol.asyncDispose]())
  const folder = temporaryFolder()
  const [rootsFile, tokenFile] = [join(folder, 'roots.pem'), join(folder, 'token')]
  // As a volume of Kubernetes: never half of a file.
  const put = (file: string, text: string) => {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
  put(rootsFile, ca.roots)
  put(tokenFile, 'token-1')
  const published: (MeshMaterial | undefined)[] = []
  const logged: string[] = []
  const failures: string[] = []
  let secrets: readonly string[] = []
  const identity = new MeshIdentity({
    caUrl: new URL(ca.url),
    trustDomain: 'mesh.test',
    workload: { namespace: 'shop', serviceAccount: 'main' },
    ...{ rootsFile, tokenFile },
    publish: (material) => void published.push(material),
    secrets: (values) => {
      secrets = values
    },
    failed: (reason) => void failures.push(reason),
    whyNotReadyChanged: () => {},
    log: (level, message, { reason = '', cause = '' }) =>
      void logged.push(`${level} ${message} ${reason} ${cause}`.trim()),
    reportBug: (error) => {
      throw error
    },
    random: () => 0.5,
    ...more,
  })
  onTestFinished(() => identity.close())
  const after = async (count: number) => {
    await time.sooner(`${count} published`, () => published.length >= count || undefined)
    return published.at(-1)
  }
  const failing = (count: number) => time.sooner(`${count} failures`, () => failures.length >= count || undefined)
  return {
    time,
    ca,
    identity,
    published,
    logged,
    failures,
    after,
    failing,
    put,
    rootsFile,
    tokenFile,
    secrets: () => secrets,
  }
}

const refuse = (ca: FakeCa) => {
  ca.answer = async () => ({ status: 16, message: 'no' })
}

verifies('parameters.mesh/trustDomain', 'the id that the CA is asked for', async () => {
  const { ca, identity, after, logged, secrets } = await rig()
  expect(identity.whyNotReady).toBe(`the certificate of the mesh for ${ID} has not arrived yet from ${ca.url}`)
  identity.start()
  const material = (await after(1))!
  expect(ca.seen).toEqual([{ authorization: 'Bearer token-1', lifeSeconds: 86_400, uris: [ID] }])
  expect(material).toMatchObject({ id: ID, roots: ca.roots.endsWith('\n') ? ca.roots : `${ca.roots}\n` })
  expect(TLS_MATERIAL.pairFault(material.certificate, material.key)).toBeUndefined()
  expect(new X509Certificate(material.certificate).subjectAltName).toBe(`URI:${ID}`)
  expect(identity.whyNotReady).toBeUndefined()
  expect(secrets()).toEqual(['token-1', material.key])
  expect(logged).toEqual(['info certificate of the mesh issued'])
})

test('a certificate is renewed at half of its time, with a new key and the token of then', async () => {
  const { time, ca, identity, after, put, tokenFile } = await rig()
  identity.start()
  const first = (await after(1))!
  const { nextMs, held } = identity.state
  expect(Math.abs(nextMs - clock.now() - 12 * HOUR_MS)).toBeLessThan(60_000)
  expect(Math.abs(held!.untilMs - clock.now() - 24 * HOUR_MS)).toBeLessThan(60_000)
  put(tokenFile, 'token-2')
  time.skip(11.9 * HOUR_MS)
  // A look later, nothing was asked yet.
  await time.sooner('a look', () => time.skipTimers(10_000) || undefined)
  expect(ca.seen).toHaveLength(1)
  time.skip(0.1 * HOUR_MS)
  const second = (await after(2))!
  expect(second.key).not.toBe(first.key)
  expect(ca.seen.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
})

test.each([
  [0, 0.45],
  [1, 0.55],
])('renewals of many proxies are spread: %d', async (random, share) => {
  const { identity, after } = await rig({ random: () => random })
  identity.start()
  await after(1)
  expect(Math.abs(identity.state.nextMs - clock.now() - share * 24 * HOUR_MS)).toBeLessThan(60_000)
})

test('the old certificate is used while it cannot be renewed, until its end, and not longer', async () => {
  const { time, ca, identity, published, logged, failures, after, failing } = await rig()
  identity.start()
  await after(1)
  const answer = ca.answer
  refuse(ca)
  time.skip(12 * HOUR_MS)
  await failing(3)
  expect(published).toHaveLength(1)
  expect(identity.whyNotReady).toBeUndefined()
  expect(identity.whyOutside).toBeUndefined()
  expect(identity.state.failed?.words).toBe(`${ca.url}: it refused: UNAUTHENTICATED: no`)
  time.skip(12 * HOUR_MS)
  expect(await after(2)).toBeUndefined()
  expect(identity.whyNotReady, 'the proxy stays ready for other traffic').toBeUndefined()
  expect(identity.whyOutside).toMatch(
    /^the certificate of the mesh expired at 20.*Z: https:.*: it refused: UNAUTHENTICATED: no$/,
  )
  ca.answer = answer
  expect(await after(3)).toMatchObject({ id: ID })
  expect(identity.whyOutside).toBeUndefined()
  expect(identity.state).toMatchObject({ failed: undefined, endedMs: undefined })
  expect(new Set(failures)).toEqual(new Set(['refused']))
  const cause = 'it refused: UNAUTHENTICATED: no'
  expect(logged).toEqual([
    'info certificate of the mesh issued',
    `warn the certificate of the mesh cannot be renewed refused ${cause}`,
    `error the certificate of the mesh has expired; no tunnel can be opened or accepted  ${ca.url}: ${cause}`,
    'info certificate of the mesh issued',
  ])
})

test('retries wait longer and longer, up to a minute', async () => {
  const { time, ca, identity, failing } = await rig({ random: () => 1 })
  refuse(ca)
  identity.start()
  const waits: number[] = []
  for (let count = 1; count <= 9; count++) {
    await failing(count)
    waits.push(Math.round((identity.state.nextMs - clock.now()) / 1000))
    time.skip(identity.state.nextMs - clock.now())
  }
  // Time passes while it is measured.
  const expected = [1, 2, 4, 8, 16, 32, 60, 60, 60]
  for (const [i, wait] of waits.entries()) expect(expected[i]! - wait, `wait ${i}`).toBeLessThan(3)
  expect(Math.max(...waits)).toBeLessThanOrEqual(60)
})

test('each cause is logged once, and tells what to do', async () => {
  const { ca, identity, put, after, failing, rootsFile, tokenFile, logged } = await rig()
  rmSync(rootsFile)
  rmSync(tokenFile)
  identity.start()
  await failing(2)
  expect(identity.whyNotReady).toBe(
    `there is no certificate of the mesh for ${ID}: there are no root certificates in ${rootsFile}: entry root-cert.pem of ConfigMap istio-ca-root-cert in namespace shop is missing; retrying`,
  )
  put(rootsFile, ca.roots)
  await failing(4)
  await expect
    .poll(() => identity.state.failed?.words)
    .toBe(`the token for the CA in ${tokenFile} cannot be read: ENOENT`)
  put(tokenFile, 'late')
  await after(1)
  expect(logged.map((line) => line.split(' ').slice(0, 9).join(' '))).toEqual([
    'warn there is no certificate of the mesh roots',
    'warn there is no certificate of the mesh token',
    'info certificate of the mesh issued',
  ])
})

test('new root certificates are used at once, and a certificate that they do not cover is replaced', async () => {
  const { time, ca, identity, put, after, rootsFile, logged } = await rig()
  identity.start()
  const first = (await after(1))!
  const next = await newAuthority('Next root')
  put(rootsFile, `${ca.roots}\n${next.pem}`)
  const both = (await after(2))!
  expect(both.certificate).toBe(first.certificate)
  expect(both.roots).toContain(next.pem.trim())
  expect(ca.seen).toHaveLength(1)
  // The CA issues with the next root, and its server still has a certificate of the first one.
  ca.answer = async ({ publicKey, uris }) => ({ chain: [await issue(next, publicKey, { uris }), next.pem] })
  const own = await newAuthority('Mesh root of another key')
  put(rootsFile, `${own.pem}\n${next.pem}`)
  await after(3)
  await time.sooner(
    'it was asked, and is not trusted',
    () => identity.state.failed?.reason === 'untrusted' || undefined,
  )
  put(rootsFile, `${ca.roots}\n${next.pem}`)
  await time.sooner('a certificate of the next root', () =>
    identity.state.held?.material.certificate === first.certificate ? undefined : true,
  )
  expect(logged.filter((line) => line.includes('have changed'))).toHaveLength(3)
})

test('root certificates that disappear stay in use with the certificate, and come back', async () => {
  const { time, ca, identity, put, after, rootsFile, published, logged } = await rig()
  identity.start()
  await after(1)
  rmSync(rootsFile)
  await time.sooner('it is noticed', () => identity.state.failed?.reason === 'roots' || undefined)
  expect(published).toHaveLength(1)
  expect(identity.state.held).toBeDefined()
  put(rootsFile, ca.roots)
  await time.sooner('it is mended', () => identity.state.failed === undefined || undefined)
  expect(logged).toContainEqual(
    expect.stringMatching(/^warn the certificate of the mesh cannot be renewed roots there are no root/),
  )
})

test('it asks no more when it is closed, whatever it does', async () => {
  const { ca, identity, time, published, failures, logged } = await rig()
  ca.answer = async () => {
    identity.close()
    return 'nothing'
  }
  identity.start()
  await time.sooner('it asks', () => ca.seen.length > 0 || undefined)
  await time.sooner('it ends', () => identity.state.failed === undefined || undefined)
  time.skip(HOUR_MS)
  expect(ca.seen).toHaveLength(1)
  expect([published, failures, logged]).toEqual([[], [], []])
})
