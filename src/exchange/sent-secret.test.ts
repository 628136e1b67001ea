import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { LOCAL_PEER } from '#test/support/local-peer.ts'
import { Exchange } from './exchange.ts'
import { sentSecret } from './sent-secret.ts'

function secretOf(credential: string | undefined) {
  const exchange = new Exchange(Head.request('GET', '/'), LOCAL_PEER)
  exchange.request.set('authorization', 'Bearer key-of-the-client')
  exchange.sentCredential = credential
  return sentSecret(exchange)
}

const KEY = 'sk-a1b2c3/d4+e5=='

test.each([KEY, 'sk-a1b2c3\\/d4+e5==', 'sk-a1b2c3/d4\\u002be5\\u003D\\u003d', 'sk-a1b2c3%2Fd4%2be5%3D%3d'])(
  'a key that a provider quotes as %s is hidden',
  (quoted) => {
    const secret = secretOf(`Bearer ${KEY}`)!
    expect(secret.hideIn(`no such key: ${quoted}, ${quoted}.`)).toBe('no such key: <redacted>, <redacted>.')
    expect(secret.hideIn(quoted.slice(1))).toBe(quoted.slice(1))
    expect(secret.hideIn(quoted.slice(0, -1))).toBe(quoted.slice(0, -1))
    const bytes = Buffer.from(`é ${quoted} 世`)
    expect(Buffer.from(secret.hideInBytes(bytes)).toString()).toBe('é <redacted> 世')
  },
)

test.each<[credential: string, text: string, hidden: string]>([
  ['aaaaaaab', 'aaaaaaaab', 'a<redacted>'],
  ['abcabcabd', 'abcabcabcabd', 'abc<redacted>'],
  ['--secret-', 'a--secret-b', 'a--<redacted>b'],
  ['++++++++', 'a++++++++b', 'a<redacted>b'],
  [`a${'+/='.repeat(4000)}`, `is a${'+/='.repeat(4000)}.`, 'is <redacted>.'],
  ['the-secret', 'the-secret, the-secret', '<redacted>, <redacted>'],
  ['abababab', 'abababababab', '<redacted>abab'],
  ['aa-bbbbbb', 'aaa-bbbbbb', 'a<redacted>'],
  ['ab-cdefgh', 'abX-cdefgh', 'abX-cdefgh'],
])('%#: the credential is hidden wherever it stands', (credential, text, hidden) => {
  expect(secretOf(credential)!.hideIn(text)).toBe(hidden)
})

test.each<[what: string, credential: string | undefined]>([
  ['no credential', undefined],
  ['a word', 'Bearer test'],
])('%s is no secret, nor is that of the client', (_, credential) => {
  expect(secretOf(credential)).toBeUndefined()
})

test('bytes without a secret are the same ones', () => {
  const bytes = Buffer.from('nothing')
  expect(secretOf(KEY)!.hideInBytes(bytes)).toBe(bytes)
})

test.each<[text: string, shown: string]>([
  ['is sk-a1b2c3/d4+e5==', 'is <redacted>'],
  ['is sk-a1b2c3/d4+e5=', 'is <redacted>'],
  ['is sk-a1b2c', 'is <redacted>'],
  ['is sk-a1b2', 'is sk-a1b2'],
  ['is sk-a1b2c3\\', 'is <redacted>'],
  ['is sk-a1b2c3\\u002', 'is <redacted>'],
  ['is sk-a1b2c3%2', 'is <redacted>'],
  ['is sk-a1b2c3\\u0030', 'is sk-a1b2c3\\u0030'],
  ['is sk-a1b2c3/d4 ', 'is sk-a1b2c3/d4 '],
  ['nothing', 'nothing'],
])('the beginning of a key at the end of what was cut is hidden: %s', (text, shown) => {
  expect(Buffer.from(secretOf(KEY)!.hideInBytes(Buffer.from(text), true)).toString()).toBe(shown)
})

test('fields that have it are changed, each line by itself', () => {
  const head = Head.response(401)
  head.append('set-cookie', `a=${KEY}`)
  head.append('set-cookie', 'b=1')
  head.append('x-request-id', 'req_1')
  secretOf(KEY)!.hideInHead(head)
  expect([head.getAll('set-cookie'), head.get('x-request-id')]).toEqual([['a=<redacted>', 'b=1'], 'req_1'])
})

test('a field that has nothing else is hidden, and so is the reason phrase', () => {
  const head = Head.response(200)
  head.receivedStatus(401)
  head.startLineKept = true
  head.set('x-key', KEY)
  secretOf(KEY)!.hideInHead(head)
  expect([head.get('x-key'), head.status, head.startLineKept]).toEqual(['<redacted>', 401, false])
})
