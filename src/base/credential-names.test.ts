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

const FIELDS = `
  api-key apikey authorization cookie ocp-apim-subscription-key private-token proxy-authorization set-cookie
  x-access-token x-amz-security-token x-api-key x-api-token x-apikey x-auth-key x-auth-token x-authorization
  x-csrf-token x-forwarded-access-token x-forwarded-authorization x-functions-key x-gitlab-token x-goog-api-key
  x-goog-iam-authorization-token x-secret-key x-session-token x-subscription-key x-token x-vault-token x-xsrf-token
`
const PARAMETERS = `
  access_key access_token api_key api_token apikey assertion auth auth_token authorization bearer_token
  client_assertion client_secret code code_verifier credential id_token jwt key passwd password private_key pwd
  refresh_token secret secret_key session_token sig signature subscription_key token x_amz_credential
  x_amz_security_token x_amz_signature x_goog_credential x_goog_signature
`

test.each(FIELDS.trim().split(/\s+/))('the value of the field %s is hidden', (name) => {
  expect(isCredentialField(name)).toBe(true)
})

test.each(PARAMETERS.trim().split(/\s+/))('the value of the parameter %s is hidden', (name) => {
  expect(isCredentialParameter(name)).toBe(true)
  expect(hideCredentialParameters(`/a?${name}=t0p&b=1`)).toBe(`/a?${name}=<redacted>&b=1`)
  expect(hideCredentialParameters(`/a?b=1&${name.replaceAll('_', '-')}=t0p`)).toBe(
    `/a?b=1&${name.replaceAll('_', '-')}=<redacted>`,
  )
})
