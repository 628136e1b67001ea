import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { sentSecrets } from './sent-secrets.ts'

/** The secrets of a request with these fields. */
function secretsOf(fields: Readonly<Record<string, string>>, sentCredential?: string) {
  const exchange = exchangeWith()
  for (const [name, value] of Object.entries(fields)) exchange.request.set(name, value)
  exchange.sentCredential = sentCredential
  return sentSecrets(exchange)
}

const KEY = 'sk-a1b2c3/d4+e5=='

test.each<[quoted: string]>([
  [KEY],
  [`Bearer ${KEY}`.slice('Bearer '.length)],
  ['sk-a1b2c3\\/d4+e5=='],
  ['sk-a1b2c3/d4\\u002be5\\u003D\\u003d'],
  ['sk-a1b2c3%2Fd4%2be5%3D%3d'],
])('a key that a provider quotes as %s is hidden', (quoted) => {
  const secrets = secretsOf({ authorization: `Bearer ${KEY}` })!
  expect(secrets.hideIn(`no such key: ${quoted}, ${quoted}.`)).toBe('no such key: <redacted>, <redacted>.')
  const bytes = Buffer.from(`é ${quoted} 世`)
  expect(Buffer.from(secrets.hideInBytes(bytes)).toString()).toBe('é <redacted> 世')
})

test.each(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'x-amz-security-token'])(
  'the credential in %s is one',
  (name) => {
    expect(secretsOf({ [name]: 'a-long-credential' })?.hideIn('a-long-credential')).toBe('<redacted>')
  },
)

test('one that auth has written elsewhere is one', () => {
  expect(secretsOf({}, 'Bearer a-long-credential')?.hideIn('key=a-long-credential')).toBe('key=<redacted>')
})

test('a secret that is a part of another one leaves nothing of it', () => {
  const secrets = secretsOf({ authorization: 'Bearer longsecret', 'x-api-key': 'longsecret-and-more' })!
  expect(secrets.hideIn('longsecret-and-more longsecret')).toBe('<redacted> <redacted>')
})

test.each<[what: string, fields: Readonly<Record<string, string>>]>([
  ['no credential', {}],
  ['a word', { authorization: 'Bearer test' }],
  ['a signature', { authorization: 'AWS4-HMAC-SHA256 Credential=AKIA/20260101/us-east-1/bedrock' }],
])('%s is no secret', (_, fields) => {
  expect(secretsOf(fields)).toBeUndefined()
})

test('bytes without a secret are the same ones', () => {
  const bytes = Buffer.from('nothing')
  expect(secretsOf({ 'x-api-key': KEY })!.hideInBytes(bytes)).toBe(bytes)
})

test('fields that have one are changed, each line by itself', () => {
  const head = Head.response(401)
  head.append('set-cookie', `a=${KEY}`)
  head.append('set-cookie', 'b=1')
  head.append('x-request-id', 'req_1')
  secretsOf({ 'x-api-key': KEY })!.hideInHead(head)
  expect([head.getAll('set-cookie'), head.get('x-request-id')]).toEqual([['a=<redacted>', 'b=1'], 'req_1'])
})
