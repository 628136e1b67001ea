import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toByteText } from './byte-text.ts'
import { KnownSecrets } from './known-secrets.ts'

const hide = (secrets: readonly string[], text: string) => new KnownSecrets(secrets.map(toByteText)).hide(text)

test.each<[what: string, secret: string, text: string, shown: string]>([
  ['as it is', 'sk-12345', 'Bearer sk-12345.', 'Bearer <redacted>.'],
  ['several times', 'sk-12345', 'sk-12345sk-12345 sk-12345', '<redacted><redacted> <redacted>'],
  ['twice, and nothing else', 'sk-12345', 'sk-12345sk-12345', '<redacted><redacted>'],
  ['the whole text', 'sk-12345', 'sk-12345', '<redacted>'],
  ['shorter than 8 characters', 'k-alice', 'k-alice', 'k-alice'],
  ['shorter than 8 characters, as base64', 'k-alice', 'ay1hbGljZQ==', 'ay1hbGljZQ=='],
  ['almost the value', 'sk-12345', 'sk-1234 sk-12346', 'sk-1234 sk-12346'],
  ['with spaces around it in the Secret', ' sk-12345\n', 'x sk-12345 y', 'x <redacted> y'],
  ['as base64', 'sk-12345', 'data: c2stMTIzNDU=', 'data: <redacted>'],
  ['in JSON', 'say "hi" now', '{"a":"say \\"hi\\" now"}', '{"a":"<redacted>"}'],
  ['in a URL', 'a/b c=d&e', '/x?q=a%2Fb%20c%3Dd%26e&z=1', '/x?q=<redacted>&z=1'],
  ['beyond ASCII', 'pässwört', 'is pässwört.', 'is <redacted>.'],
  ['the token behind a scheme', 'Bearer sk-12345', 'token sk-12345', 'token <redacted>'],
  [
    'the key of an entry',
    '{"key":"k-alice-1","metadata":{"team":"platform"}}',
    'k-alice-1 platform',
    '<redacted> platform',
  ],
  ['of JSON that is broken', '{sk-12345', 'x {sk-12345', 'x <redacted>'],
  ['in form of a URL', 'https://idp.test', 'http://idp.test https://idp.test', 'http://idp.test <redacted>'],
  ['the hash of a user', 'ann:$apr1$x$y12', 'hash $apr1$x$y12', 'hash <redacted>'],
  ['the password of an empty user', ':sk-12345', 'token sk-12345', 'token <redacted>'],
  [
    'a line of PEM',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n-----END PRIVATE KEY-----',
    'x MIIEvQIBADANBgkqhkiG y',
    'x <redacted> y',
  ],
  [
    'words of a file',
    '{\n  "type": "service_account",\n  "private_key": "abcdefgh1"\n}',
    '"type": "service_account" abcdefgh1',
    '"type": "service_account" <redacted>',
  ],
  [
    'in an object of a file',
    '{"type":"impersonated_service_account","source_credentials":{"client_email":"robot@a.test","private_key":"-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG\\n-----END PRIVATE KEY-----","refresh_token":"1//abcdefgh"}}',
    'robot@a.test MIIEvQIBADANBgkqhkiG 1//abcdefgh',
    'robot@a.test <redacted> <redacted>',
  ],
])('a secret %s', (_, secret, text, shown) => expect(hide([secret], text)).toBe(shown))

test.each<[text: string, shown: string]>([
  ['no key sk-12345678\u2026', 'no key <redacted>\u2026'],
  ['sk-123456789012\u2026', '<redacted>\u2026'],
  ['a sk-1234567890123456\u2026', 'a <redacted>\u2026'],
  ['a sk-12345\u2026, sk-12345\u2026', 'a <redacted>\u2026, <redacted>\u2026'],
  ['sk-1234\u2026', 'sk-1234\u2026'],
  ['sk-12345', 'sk-12345'],
  ['sk-12345 and more\u2026', 'sk-12345 and more\u2026'],
  ['sk-12345X\u2026', 'sk-12345X\u2026'],
])('of a text that was cut, the beginning of a secret is hidden: %s', (text, shown) => {
  expect(hide(['sk-1234567890123456'], text)).toBe(shown)
})

test.each<[secret: string, text: string, shown: string]>([
  ['a\u2026bc-12345678', 'x a\u2026bc-1234567\u2026', 'x <redacted>\u2026'],
  ['sk-12345\u2026abcdefgh', 'x sk-12345\u2026abc\u2026 y', 'x <redacted>\u2026 y'],
  ['sk-12345\u2026abcdefgh', 'x sk-12345\u2026', 'x <redacted>\u2026'],
  ['a\u2026bc-12345678', 'x a\u2026bc-123 y', 'x a\u2026bc-123 y'],
])('a secret may have an ellipsis of its own: after the secret %s, the text %s becomes %s', (secret, text, shown) => {
  expect(hide([secret], text)).toBe(shown)
})

test('of two values that begin alike, the longer beginning is hidden', () => {
  expect(hide(['sk-12345-abcdefgh', 'sk-12345-abX'], 'sk-12345-abcd\u2026')).toBe('<redacted>\u2026')
  expect(hide(['sk-12345-abXdefgh', 'sk-12345-abc-1'], 'sk-12345-abc\u2026')).toBe('<redacted>\u2026')
})

test('the longer of two values that begin alike is hidden whole', () => {
  expect(hide(['sk-12345', 'sk-12345-long'], 'sk-12345-long sk-12345')).toBe('<redacted> <redacted>')
})

test('each of many values is hidden, and no other', () => {
  const secrets = Array.from({ length: 50_000 }, (_, i) => `${i}`.padStart(8, '0'))
  const known = new KnownSecrets(secrets)
  expect(secrets.filter((secret) => known.hide(secret) !== '<redacted>')).toEqual([])
  const others = Array.from({ length: 100 }, (_, i) => `${i}`.padStart(8, '1'))
  expect(others.filter((other) => known.hide(other) !== other)).toEqual([])
})

test('without secrets only parameters are hidden', () => {
  expect(hide([], '/a?access_token=x&b=y')).toBe('/a?access_token=<redacted>&b=y')
  expect(hide([], 'sk-12345')).toBe('sk-12345')
})

test('it finds the same values as replacing each one in turn', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}'), minLength: 8, maxLength: 10 })
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 4 }), fc.array(letters, { maxLength: 6 }), (secrets, pieces) => {
      const text = [...pieces, ...secrets].join('-')
      const hidden = hide(secrets, text)
      for (const secret of secrets) expect(hidden).not.toContain(secret)
      if (!secrets.some((secret) => text.includes(secret))) expect(hidden).toBe(text)
    }),
  )
})
