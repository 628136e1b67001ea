import type { PeerCertificate } from 'node:tls'
import { expect, test } from 'vitest'
import { checkSubjectAltNames } from './check-subject-alt-names.ts'

const certificate = (subjectaltname: string | undefined, CN = 'common.test') =>
  ({ subject: { CN }, subjectaltname }) as unknown as PeerCertificate

test.each([
  // accepted names, names of the certificate, whether one matches
  [['a.test'], 'DNS:a.test', true],
  [['a.test'], 'DNS:b.test, DNS:a.test', true],
  [['a.test'], 'DNS:b.test', false],
  [['b.test', 'a.test'], 'DNS:a.test', true],
  [['x.a.test'], 'DNS:*.a.test', true],
  [['a.test'], 'DNS:*.a.test', false],
  [['x.y.a.test'], 'DNS:*.a.test', false],
  [['127.0.0.1'], 'IP Address:127.0.0.1', true],
  [['127.0.0.1'], 'DNS:127.0.0.1', false],
  [['127.0.0.2'], 'IP Address:127.0.0.1', false],
  [['spiffe://t/a'], 'URI:spiffe://t/a', true],
  [['spiffe://t/a'], 'URI:spiffe://t/ab', false],
  [['spiffe://t/a'], 'DNS:spiffe://t/a', false],
  // The common name is never used.
  [['common.test'], undefined, false],
  [['common.test'], 'URI:spiffe://t/a', false],
  [['common.test'], 'IP Address:127.0.0.1', false],
  [['common.test'], 'DNS:other.test', false],
  [[], 'DNS:a.test', false],
] as const)('%j of a certificate with %s: %s', (names, carried, isCarried) => {
  expect(checkSubjectAltNames(names, certificate(carried)) === undefined).toBe(isCarried)
})
