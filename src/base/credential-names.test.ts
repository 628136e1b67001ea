import { expect, test } from 'vitest'
import { hideCredentialParameters, isCredentialField, isCredentialParameter, redactTarget } from './credential-names.ts'

test.each([
  ['Authorization', true],
  ['x-goog-api-key', true],
  ['X-Auth-Token', true],
  ['ocp-apim-subscription-key', true],
  ['Set-Cookie', true],
  ['x-tag', false],
  ['content-type', false],
  ['x-request-key-id', false],
  ['Sec-WebSocket-Protocol', true],
  ['X-Shop-Secret', true],
  ['Mcp-Session-Id', true],
  ['X-Hub-Signature-256', true],
  ['x_api_key', true],
  ['access-control-allow-credentials', false],
  ['Idempotency-Key', false],
  ['sec-websocket-key', false],
])('the field %s carries a credential: %s', (name, is) => expect(isCredentialField(name)).toBe(is))

test.each([
  ['access_token', true],
  ['Access-Token', true],
  ['X-Amz-Signature', true],
  ['key', true],
  ['keyword', false],
  ['oauth_token', true],
  ['user[password]', true],
  ['accessToken', true],
  ['token2', true],
  ['AWSAccessKeyId', true],
  ['sessionId', true],
  ['JSESSIONID', true],
  ['sid', true],
  ['max_tokens', false],
  ['sort_key', false],
  ['postcode', false],
  ['side', false],
  ['page', false],
])('the parameter %s carries a credential: %s', (name, is) => expect(isCredentialParameter(name)).toBe(is))

test.each([
  ['GET /a?b=1&access_token=t0p&c=2 HTTP/1.1', 'GET /a?b=1&access_token=<redacted>&c=2 HTTP/1.1'],
  ['https://h/p?X-Amz-Signature=abc#top', 'https://h/p?X-Amz-Signature=<redacted>#top'],
  ['{"u":"/x?key=AIza","v":1}', '{"u":"/x?key=<redacted>","v":1}'],
  ['say key=value', 'say key=value'],
  ['/a?keyword=x', '/a?keyword=x'],
  ['no query', 'no query'],
  ['/a?%61ccess_token=t0p', '/a?%61ccess_token=<redacted>'],
  ['/a?%zztoken=t0p', '/a?%zztoken=<redacted>'],
  ['/a;jsessionid=t0p/b;v=1?c=d', '/a;jsessionid=<redacted>/b;v=1?c=d'],
  ['https://h/#access_token=t0p&x=1', 'https://h/#access_token=<redacted>&x=1'],
  ['/a?x=1;token=t0p;y=2', '/a?x=1;token=<redacted>;y=2'],
  ['/a?;token=t0p&y', '/a?;token=<redacted>&y'],
  ['/a?token=a;b?c/d&y', '/a?token=<redacted>&y'],
  ['/a?token=&y=1', '/a?token=&y=1'],
  ['/a?token=t0p&key=t1p', '/a?token=<redacted>&key=<redacted>'],
  ['(/a?token=t0p "quoted")', '(/a?token=<redacted> "quoted")'],
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

test.each([
  ['/a?x=1&q=t0p&q=t1p&y', '/a?x=1&q=<redacted>&q=<redacted>&y'],
  ['/a?%71=t0p', '/a?%71=<redacted>'],
  ['/a?q=it\'s"<t0p>', '/a?q=<redacted>'],
  ['/a?Q=1&qs=2', '/a?Q=1&qs=2'],
  ['/a?access_token=t0p', '/a?access_token=<redacted>'],
  ['/a?+q=1', '/a?+q=1'],
  ['/a', '/a'],
])('the target %j, with credentials in q', (target, hidden) => expect(redactTarget(target, ['q'])).toBe(hidden))

test.each([
  ['/a?access%5Ftoken=t', '/a?access%5Ftoken=<redacted>'],
  ['/a?Api-Key=t', '/a?Api-Key=<redacted>'],
  ['/a?q=1&y=2', '/a?q=1&y=2'],
])('the target %j, without configured parameters', (target, hidden) => expect(redactTarget(target, [])).toBe(hidden))
