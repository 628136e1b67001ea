import { beforeAll, expect, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { certificatesIn } from '#base/tls-material.ts'
import { type Authority, issue, type LeafOptions, newAuthority, newKeys, pemOfKey } from '#net/testing/authority.ts'
import { checkCertificates } from './check-certificates.ts'
import { MeshFailure } from './mesh-failure.ts'

const ID = 'spiffe://cluster.local/ns/default/sa/main'
const HOUR_MS = 3_600_000

let keys: Awaited<ReturnType<typeof newKeys>>
let key: string
let root: Authority
let intermediate: Authority
let expiredRoot: Authority

beforeAll(async () => {
  keys = await newKeys()
  key = await pemOfKey(keys)
  root = await newAuthority('Mesh root')
  intermediate = await newAuthority('Cluster one', root, { forMs: 2 * HOUR_MS })
  expiredRoot = await newAuthority('Old root', undefined, { fromMs: -2 * HOUR_MS, forMs: -HOUR_MS })
})

const leafOf = (issuer: Authority, options: LeafOptions = {}) =>
  issue(issuer, keys.publicKey, { uris: [ID], forMs: 3 * HOUR_MS, ...options })

function check(chain: readonly string[], roots = root.pem, nowMs = clock.now()) {
  return checkCertificates(chain, { id: ID, key, roots, rootsFile: '/roots.pem' }, nowMs)
}

function words(chain: readonly string[], ...more: [roots?: string, nowMs?: number]): string {
  try {
    check(chain, ...more)
  } catch (error) {
    if (error instanceof MeshFailure) return `${error.reason}: ${error.message}`
    throw error
  }
  return 'no failure'
}

test('a certificate of a root is used until its end; the root of the answer is not part of what peers get', async () => {
  const leaf = await leafOf(root)
  const { certificate, untilMs } = check([leaf, root.pem])
  expect(certificatesIn(certificate)).toEqual([leaf.trim()])
  expect(Math.abs(untilMs - clock.now() - 3 * HOUR_MS)).toBeLessThan(60_000)
})

test('certificates between it and the root are in order, and the first that ends counts', async () => {
  const leaf = await leafOf(intermediate)
  // In one text or in several, as CAs do.
  for (const chain of [
    [leaf, intermediate.pem, root.pem],
    [leaf, `${root.pem}\n${intermediate.pem}`],
  ]) {
    const { certificate, untilMs } = check(chain, `${expiredRoot.pem}\n${root.pem}`)
    expect(certificatesIn(certificate)).toEqual([leaf.trim(), intermediate.pem.trim()])
    expect(Math.abs(untilMs - clock.now() - 2 * HOUR_MS)).toBeLessThan(60_000)
  }
})

test('of a root in its old and its renewed form, the renewed one counts', async () => {
  const leaf = await leafOf(root)
  const renewed = root.pem
  const { certificate, keys: rootKeys } = await newAuthority('Mesh root')
  expect(certificate.subject).toBe(root.certificate.subject)
  const other = await leafOf({ ...root, keys: rootKeys })
  expect(check([leaf], `${certificate.toString('pem')}\n${renewed}`).untilMs).toBeGreaterThan(clock.now())
  // The same name with another key is another root.
  expect(words([other])).toBe(
    `answer: the certificate is not signed by a root in /roots.pem: its issuer is "CN=Mesh root"`,
  )
})

test.each<[string, () => Promise<readonly string[]>, string | RegExp]>([
  ['no certificate', async () => [], 'answer: the answer has no certificates'],
  ['garbage', async () => ['hello', ''], 'answer: the answer has no certificates'],
  [
    'no certificate in PEM',
    async () => ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
    'answer: certificate 1 of the answer cannot be read',
  ],
  [
    'a chain that is too long',
    async () => [await leafOf(root), ...Array.from({ length: 10 }, () => root.pem)],
    'answer: the answer has 11 certificates; the limit is 10',
  ],
  [
    'no name',
    async () => [await leafOf(root, { uris: [] })],
    `answer: the certificate has no SPIFFE id; it must have ${ID}`,
  ],
  [
    'a host name only',
    async () => [await leafOf(root, { uris: [], hosts: ['a.test'] })],
    `answer: the certificate has no SPIFFE id; it must have ${ID}`,
  ],
  [
    'two ids',
    async () => [await leafOf(root, { uris: [ID, `${ID}2`] })],
    `answer: the certificate has 2 URIs; it must have one, ${ID}`,
  ],
  [
    'the id of another account',
    async () => [await leafOf(root, { uris: ['spiffe://cluster.local/ns/default/sa/other'] })],
    `answer: the certificate is for spiffe://cluster.local/ns/default/sa/other, not for ${ID}`,
  ],
  [
    'a foreign trust domain',
    async () => [await leafOf(root, { uris: ['spiffe://other.example/ns/default/sa/main'] })],
    `answer: the certificate is for spiffe://other.example/ns/default/sa/main, not for ${ID}; is mesh.trustDomain that of the CA?`,
  ],
  [
    'another key',
    async () => [await issue(root, (await newKeys()).publicKey, { uris: [ID] })],
    'answer: the certificate is for another key',
  ],
  [
    'an unknown root',
    async () => [await leafOf(await newAuthority('Evil\u202e root'))],
    'answer: the certificate is not signed by a root in /roots.pem: its issuer is "CN=Evil\\u202e root"',
  ],
  [
    'no way to the root',
    async () => [await leafOf(intermediate)],
    'answer: the certificate is not signed by a root in /roots.pem: its issuer is "CN=Cluster one"',
  ],
  [
    'an issuer that is no authority',
    async () => {
      const leaf = await leafOf(root)
      return [await leafOf({ ...root, keys }), leaf]
    },
    /^answer: the certificate is not signed by a root/,
  ],
  [
    'a certificate that has ended',
    async () => [await leafOf(root, { fromMs: -2 * HOUR_MS, forMs: -HOUR_MS })],
    /^answer: the certificate expired at .*Z, 1 h( \d+ s)? ago by the clock of this machine$/,
  ],
  [
    'a certificate of the future',
    async () => [await leafOf(root, { fromMs: HOUR_MS / 2 })],
    /^answer: the certificate is valid only from .*Z: the clocks of the CA and of this machine are (30 min|29 min 5\d s) apart$/,
  ],
  [
    'an authority that has ended',
    async () => {
      const ended = await newAuthority('Ended', root, { fromMs: -2 * HOUR_MS, forMs: -HOUR_MS })
      return [await leafOf(ended), ended.pem]
    },
    /^answer: the certificate of "CN=Ended" expired at /,
  ],
])('%s is refused', async (_, chain, expected) => {
  const said = words(await chain())
  if (typeof expected === 'string') expect(said).toBe(expected)
  else expect(said).toMatch(expected)
})

test('a certificate of a root that has ended is refused', async () => {
  expect(words([await leafOf(expiredRoot)], expiredRoot.pem)).toMatch(
    /^answer: the certificate of "CN=Old root" expired at /,
  )
})

test('clocks may be a little apart', async () => {
  expect(words([await leafOf(root, { fromMs: 30_000 })])).toBe('no failure')
})
