import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { CERTIFICATES } from '../testing/certificates.ts'
import { certificateOf } from './client-certificate.ts'

test('the names in a certificate', () => {
  const said = certificateOf(new X509Certificate(CERTIFICATES.mesh.cert))
  expect(said?.pem.trim()).toBe(CERTIFICATES.mesh.cert.trim())
  expect(said?.subject).toBe('emailAddress=cart@shop.test,CN=cart,OU=web,OU=carts,O=Shop\\, Best \\+ Co,C=DE')
  expect(said?.issuer).toBe('CN=mesh-ca,O=Shop')
  expect(said?.subjectCn).toBe('cart')
  expect(said?.subjectAltNames).toEqual([
    'spiffe://shop.test/ns/carts/sa/cart',
    'cart.shop.test',
    '192.0.2.7',
    '2001:db8::7',
    'cart@shop.test',
    'spiffe://evil.test/ns/a/sa/b',
    'https://shop.test/a,b',
  ])
  expect(said?.uris).toEqual(['spiffe://shop.test/ns/carts/sa/cart', 'https://shop.test/a,b'])
})

test('a certificate without alternative names', () => {
  const said = certificateOf(new X509Certificate(CERTIFICATES.client.cert))
  expect([said?.subject, said?.subjectCn, said?.subjectAltNames, said?.uris]).toEqual([
    'CN=client.test',
    'client.test',
    [],
    [],
  ])
  expect(certificateOf(undefined)).toBeUndefined()
})
