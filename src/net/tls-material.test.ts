import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { CERTIFICATES } from './testing/certificates.ts'
import { TLS_MATERIAL } from './tls-material.ts'

const { server, serverRsa, client, ca, meshCa } = CERTIFICATES
const GARBAGE = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const BROKEN_KEY = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n'

function encrypted(type: 'pkcs8' | 'pkcs1'): string {
  const options = { type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' } as const
  return createPrivateKey(serverRsa.key).export(options) as string
}

test.each<[what: string, cert: string, key: string, fault: string | undefined]>([
  ['a pair', server.cert, server.key, undefined],
  ['a pair of RSA', serverRsa.cert, serverRsa.key, undefined],
  ['with its chain', server.cert + ca, server.key, undefined],
  ['keys of two kinds', server.cert, serverRsa.key, 'the certificate and the key do not match'],
  ['keys of one kind', server.cert, client.key, 'the certificate and the key do not match'],
  ['the chain first', ca + server.cert, server.key, 'the certificate and the key do not match'],
  ['no certificate', GARBAGE, server.key, 'the certificate cannot be read'],
  ['a cut certificate', server.cert.slice(0, 200), server.key, 'the certificate cannot be read'],
  ['no key', server.cert, BROKEN_KEY, 'the key cannot be read'],
  ['an encrypted key', serverRsa.cert, encrypted('pkcs8'), 'the key is encrypted'],
  ['an encrypted key of the old form', serverRsa.cert, encrypted('pkcs1'), 'the key is encrypted'],
])('%s', (_, cert, key, fault) => {
  expect(TLS_MATERIAL.pairFault(cert, key)).toBe(fault)
  // With and without a cached result.
  expect(TLS_MATERIAL.pairFault(cert, key)).toBe(fault)
})

test('an invalid chain', () => {
  expect(TLS_MATERIAL.pairFault(server.cert + GARBAGE, server.key)).toMatch(/^TLS rejects it \(ERR_\w+\)$/)
})

test('messages contain no part of a key', () => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const fault = TLS_MATERIAL.pairFault(server.cert, key.replace('PRIVATE', 'BROKEN'))
  for (const line of key.split('\n').slice(1, -2)) expect(fault).not.toContain(line)
})

test.each<[what: string, pem: string, fault: string | undefined]>([
  ['one', ca, undefined],
  ['two, with words between', `ours:\n${ca}theirs:\n${meshCa}`, undefined],
  ['garbage', GARBAGE, 'the certificate cannot be read'],
  ['garbage behind a good one', ca + GARBAGE, 'certificate 2 cannot be read'],
  ['a cut one', ca.slice(0, 200), 'it contains no complete certificate'],
])('authorities: %s', (_, pem, fault) => {
  expect(TLS_MATERIAL.authoritiesFault(pem)).toBe(fault)
})

test('what a certificate is valid for', () => {
  const { fromMs, untilMs, names } = TLS_MATERIAL.validity(server.cert)!
  expect(fromMs).toBeLessThan(untilMs)
  expect(names).toEqual(['server.test', '*.wild.test'])
  expect(TLS_MATERIAL.validity(GARBAGE)).toBeUndefined()
})
