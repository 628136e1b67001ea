import { EventStreamCodec } from '@smithy/core/event-streams'
import { SignatureV4 } from '@smithy/signature-v4'
import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import { HASHING } from '#test/support/hashing.ts'
import { VendorSha256 } from '#test/support/vendor-sha256.ts'
import { verifyEvents } from '#test/support/verify-events.ts'
import { RequestSigner } from './request-signer.ts'

const KEYS = {
  accessKey: 'AKIDEXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
}
const SCOPE = { service: 'transcribe', region: 'eu-west-1' }
const CODEC = new EventStreamCodec(
  (bytes) => Buffer.from(bytes as Uint8Array).toString(),
  (text) => Buffer.from(text),
)
/** The last second of a day, so that the second event has the key of the next one. */
const FIRST_MS = Date.parse('2026-01-02T23:59:59.789Z')

function open(nowMs: number) {
  const head = Head.request('POST', '/stream')
  head.set('host', 'h.test')
  head.set('content-type', 'application/vnd.amazon.eventstream')
  const signer = new RequestSigner(SCOPE, HASHING).signEvents(head, KEYS, nowMs)
  return { head, signer, seed: /[0-9a-f]{64}$/.exec(head.get('authorization')!)![0] }
}

test('the head names the kind of signature, and is signed like by the library of the vendor', async () => {
  const { head } = open(FIRST_MS)
  expect(head.get('x-amz-content-sha256')).toBe('STREAMING-AWS4-HMAC-SHA256-EVENTS')
  const reference = await library().sign(
    {
      method: 'POST',
      protocol: 'https:',
      hostname: 'h.test',
      path: '/stream',
      headers: {
        host: 'h.test',
        'content-type': 'application/vnd.amazon.eventstream',
        'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-EVENTS',
      },
    },
    { signingDate: new Date(FIRST_MS) },
  )
  expect(head.get('authorization')).toBe(reference.headers.authorization)
})

test('events are signed and framed like by the library of the vendor, also after midnight', async () => {
  const { signer, seed } = open(FIRST_MS)
  let priorSignature = seed
  for (const [nowMs, event] of [
    [FIRST_MS, 'one'],
    [FIRST_MS + 1000, 'zwei'],
    [FIRST_MS + 1000, ''],
  ] as const) {
    const body = Buffer.from(event)
    const date = new Date(nowMs)
    const headers = { ':date': { type: 'timestamp', value: date } } as const
    const message = { headers, body }
    const { signature } = await library().signMessage({ message, priorSignature }, { signingDate: date })
    const value = Uint8Array.fromHex(signature)
    const expected = CODEC.encode({ headers: { ...headers, ':chunk-signature': { type: 'binary', value } }, body })
    expect(Buffer.from(signer.sign(body, nowMs)).toString('hex')).toBe(Buffer.from(expected).toString('hex'))
    priorSignature = signature
  }
})

test('the verifier of scenarios accepts them, and notices any change', () => {
  const now = Date.now()
  const { signer, seed } = open(now)
  const frames = ['one', 'two', ''].map((event) => Buffer.from(signer.sign(Buffer.from(event), now)))
  const verify = (...sent: Buffer[]) =>
    verifyEvents(Buffer.concat(sent), seed, { ...SCOPE, secretAccessKey: KEYS.secretKey }).fault
  const [one, two, end] = frames as [Buffer, Buffer, Buffer]
  expect([verify(one, two, end), verify(one, two), verify(two, one, end), verify(one, end)]).toEqual([
    undefined,
    'event 2: no signed end',
    'event 0: wrong signature',
    'event 1: wrong signature',
  ])
})

function library(): SignatureV4 {
  const credentials = { accessKeyId: KEYS.accessKey, secretAccessKey: KEYS.secretKey }
  return new SignatureV4({ credentials, ...SCOPE, sha256: VendorSha256, applyChecksum: false })
}
