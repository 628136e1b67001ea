import { expect, test } from 'vitest'
import { hideCredentialParameters, isCredentialField, isCredentialParameter } from './credential-names.ts'

test.each([
  ['Authorization', true],
  ['x-goog-api-key', true],
  ['X-Auth-Token', true],
  ['ocp-apim-subscription-key', true],
  ['Set-Cookie', true],
  ['x-tag', false],
  ['content-type', false],
  ['x-request-key-id', false],
])('the field %s carries a credential: %s', (name, is) => expect(isCredentialField(name)).toBe(is))

test.each([
  ['access_token', true],
  ['Access-Token', true],
  ['X-Amz-Signature', true],
  ['key', true],
  ['keyword', false],
  ['page', false],
])('the parameter %s carries a credential: %s', (name, is) => expect(isCredentialParameter(name)).toBe(is))

test.each([
  ['GET /a?b=1&access_token=t0p&c=2 HTTP/1.1', 'GET /a?b=1&access_token=<redacted>&c=2 HTTP/1.1'],
  ['https://h/p?X-Amz-Signature=abc#top', 'https://h/p?X-Amz-Signature=<redacted>#top'],
  ['{"u":"/x?key=AIza","v":1}', '{"u":"/x?key=<redacted>","v":1}'],
  ['say key=value', 'say key=value'],
  ['/a?keyword=x', '/a?keyword=x'],
  ['no query', 'no query'],
])('%s', (text, hidden) => expect(hideCredentialParameters(text)).toBe(hidden))
