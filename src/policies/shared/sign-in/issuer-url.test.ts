import { expect, test } from 'vitest'
import { issuerBackend } from './issuer-url.ts'

test.each([
  ['https://id.example.com/realms/a', { host: 'id.example.com', port: 443, tls: true }],
  ['http://id.example.com', { host: 'id.example.com', port: 80, tls: false }],
  ['https://id.example.com:8443', { host: 'id.example.com', port: 8443, tls: true }],
  ['http://127.0.0.1:9000/a', { host: '127.0.0.1', port: 9000, tls: false }],
])('the server of the issuer %s', (issuer, spec) => {
  expect(issuerBackend(issuer)).toEqual({ type: 'issuer', spec })
})

test.each([undefined, '', 'tokens', 'ftp://id.example.com', 'https://a@id.example.com', 'https://:b@id.example.com'])(
  'the issuer %s has no server',
  (issuer) => {
    expect(issuerBackend(issuer)).toBeUndefined()
  },
)

test.each(['https://id.example.com?a=b', 'https://id.example.com#a'])('the issuer %s has no server', (issuer) => {
  expect(issuerBackend(issuer)).toBeUndefined()
})
