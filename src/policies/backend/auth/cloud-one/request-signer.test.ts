import { readFileSync } from 'node:fs'
import { SignatureV4 } from '@smithy/signature-v4'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { HASHING } from '#test/support/hashing.ts'
import { VendorSha256 } from '#test/support/vendor-sha256.ts'
import { verifies } from '#test/support/verifies.ts'
import type { AccessKeys } from '../../../shared/clouds/cloud-credential.ts'
import { linesOf } from '../../../shared/testing.ts'
import { RequestSigner } from './request-signer.ts'
import type { SigningScope } from './scope-signer.ts'

interface Case {
  readonly name: string
  readonly method: string
  readonly host: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly scope: SigningScope
  readonly keys: Omit<AccessKeys, 'sessionToken'> & { readonly sessionToken?: string }
  /** Header fields that botocore added. */
  readonly sent: Readonly<Record<string, string>>
}

const file = new URL('../../../../../test/interop/signatures.json', import.meta.url)
const { timeMs, cases } = JSON.parse(readFileSync(file, 'utf8')) as { timeMs: number; cases: readonly Case[] }

function sign(request: Head, { body, scope, keys }: Pick<Case, 'body' | 'scope' | 'keys'>): Record<string, string> {
  const bytes = body === '' ? undefined : new TextEncoder().encode(body)
  new RequestSigner(scope, HASHING).sign(request, bytes, { sessionToken: undefined, ...keys }, timeMs)
  return Object.fromEntries(linesOf(request).map((line) => line.split(': ') as [string, string]))
}

function headOf({ method, target, host, headers }: Pick<Case, 'method' | 'target' | 'host' | 'headers'>): Head {
  const head = Head.request(method, target)
  head.set('host', host)
  for (const [name, value] of Object.entries(headers)) head.append(name, value)
  return head
}

/** Amazon's own client signs a client's `content-type` only if it is among its own fields; all others are equal. */
for (const one of cases) {
  verifies('backend.auth.cloudOne/signs', `signs like botocore: ${one.name}`, () => {
    const own = Object.entries(one.headers).filter(([name]) => !(name in one.sent))
    expect(sign(headOf(one), one)).toEqual({ ...Object.fromEntries(own), ...one.sent })
  })
}

const KEYS = { accessKey: 'AKIDEXAMPLE', secretKey: 'secret' }
const SCOPE = { service: 'service', region: 'us-east-1' }
const request = { method: 'GET', host: 'h.test', target: '/', headers: {}, body: '', scope: SCOPE, keys: KEYS }

test('signs like the JavaScript library of the vendor, for any path, query and body', async () => {
  const text = fc.string({ unit: fc.constantFrom(...'abzAZ019-._~:@!$&()*,;=+%/?# é'), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(text.map(encodeURIComponent), { maxLength: 4 }),
      fc.dictionary(text, text, { maxKeys: 3 }),
      text,
      async (segments, query, body) => {
        const path = `/${segments.filter((segment) => !/^\.*$/.test(segment)).join('/')}`
        const search = Object.entries(query).map((pair) => pair.map(encodeURIComponent).join('='))
        const target = search.length === 0 ? path : `${path}?${search.join('&')}`
        const signer = new SignatureV4({
          credentials: { accessKeyId: KEYS.accessKey, secretAccessKey: KEYS.secretKey },
          ...SCOPE,
          sha256: VendorSha256,
          applyChecksum: false,
        })
        const reference = await signer.sign(
          { method: 'POST', protocol: 'https:', hostname: 'h.test', path, query, headers: { host: 'h.test' }, body },
          { signingDate: new Date(timeMs) },
        )
        const head = headOf({ ...request, method: 'POST', target })
        expect(sign(head, { ...request, body }).authorization).toBe(reference.headers.authorization)
      },
    ),
  )
})

test('a signature of the client is replaced, also under names with underscores', () => {
  const stale = { x_amz_date: 'x', 'x-amz-security-token': 'x', 'x-amz-content-sha256': 'x', Authorization: 'x' }
  expect(sign(headOf({ ...request, headers: stale }), request)).toEqual(sign(headOf(request), request))
})

test('fields that servers on the way change are not signed', () => {
  const changed = { 'user-agent': 'x', via: 'x', 'x-amzn-trace-id': 'x', te: 'x', 'x-forwarded-for': 'x', expect: 'x' }
  const signed = sign(headOf({ ...request, headers: changed }), request)
  expect(signed.authorization).toBe(sign(headOf(request), request).authorization)
})

test('a repeated field counts as one with both values', () => {
  const twice = headOf({ ...request, headers: { 'x-amz-a': '1' } })
  twice.append('x-amz-a', '2')
  const joined = headOf({ ...request, headers: { 'x-amz-a': '1,2' } })
  expect(sign(twice, request).authorization).toBe(sign(joined, request).authorization)
})

test('in a query, an escape has one spelling, and a plus sign is a space', () => {
  const signatureOf = (target: string) => sign(headOf({ ...request, target }), request).authorization
  expect(signatureOf('/?a=%7e%2f&b=x+y&')).toBe(signatureOf('/?b=x%20y&a=~/'))
  expect(signatureOf('/?a=%zz')).toBe(signatureOf('/?a=%25zz'))
})

test('the key of a day is replaced with the day and with the keys', () => {
  const signer = new RequestSigner(SCOPE, HASHING)
  const signatureAt = (keys: AccessKeys, nowMs: number, by = signer) => {
    const head = headOf(request)
    by.sign(head, undefined, keys, nowMs)
    return head.get('authorization')
  }
  const one = { ...KEYS, sessionToken: undefined }
  const other = { ...one, secretKey: 'other' }
  for (const [keys, nowMs] of [
    [one, timeMs],
    [one, timeMs + 86_400_000],
    [other, timeMs + 86_400_000],
  ] as const) {
    expect(signatureAt(keys, nowMs)).toBe(signatureAt(keys, nowMs, new RequestSigner(SCOPE, HASHING)))
  }
})
