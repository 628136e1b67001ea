import { expect, onTestFinished, test } from 'vitest'
import { certificatesIn } from '#base/tls-material.ts'
import { newAuthority } from '#net/testing/authority.ts'
import { freePort } from '#test/support/free-port.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { askCa, type CaQuestion } from './ask-ca.ts'
import { createIdentityRequest } from './identity-request.ts'
import { MeshFailure } from './mesh-failure.ts'
import { type CaAnswer, type FakeCa, startFakeCa } from './testing.ts'

const ID = 'spiffe://cluster.local/ns/default/sa/main'

async function fakeCa(...parameters: Parameters<typeof startFakeCa>): Promise<FakeCa> {
  const ca = await startFakeCa(...parameters)
  onTestFinished(() => ca[Symbol.asyncDispose]())
  return ca
}

async function ask(ca: Pick<FakeCa, 'url' | 'roots'>, more: Partial<CaQuestion> = {}) {
  const { csr } = await createIdentityRequest(ID)
  const question = { rootsFile: '/roots.pem', token: 'the-token', csr, lifeSeconds: 3600, ...more }
  return askCa({ url: new URL(ca.url), roots: ca.roots, ...question }, new AbortController().signal)
}

/** Reason and words of a failed question. */
async function failure(asked: Promise<unknown>): Promise<string> {
  const error = await asked.then(
    () => new Error('no failure'),
    (error: unknown) => error,
  )
  if (!(error instanceof MeshFailure)) throw error
  return `${error.reason}: ${error.message}`
}

test('a CA is asked with the token, the id and the life, and answers with certificates', async () => {
  const ca = await fakeCa()
  const chain = await ask(ca)
  expect(ca.seen).toEqual([{ authorization: 'Bearer the-token', lifeSeconds: 3600, uris: [ID] }])
  expect(chain.map((text) => certificatesIn(text).length)).toEqual([1, 1])
})

test.each<[string, CaAnswer, string]>([
  ['refuses', { status: 16, message: 'token expired' }, 'refused: it refused: UNAUTHENTICATED: token expired'],
  ['shows the token', { status: 7, message: 'no: the-token' }, 'refused: it refused: PERMISSION_DENIED: no: ***'],
  [
    'sends an unsafe text',
    { status: 13, message: `a\u001b[2Jb\n${'x'.repeat(1000)}` },
    `refused: it refused: INTERNAL: a\\u001b[2Jb\\u000a${'x'.repeat(272)}\u2026`,
  ],
  ['sends garbage', { bytes: Uint8Array.of(255, 255, 255) }, 'answer: the answer has no certificates'],
  ['sends nothing', { bytes: new Uint8Array() }, 'answer: the answer has no certificates'],
  ['sends too much', { chain: ['x'.repeat(70_000)] }, 'answer: the message has 70004 bytes; the limit is 65536'],
])('a CA that %s', async (_, answer, expected) => {
  const ca = await fakeCa()
  ca.answer = async () => answer
  expect(await failure(ask(ca))).toBe(expected)
})

test('a CA that does not answer in time', async () => {
  using time = new PassingTime()
  const ca = await fakeCa()
  ca.answer = async () => 'nothing'
  expect(await time.hurry(failure(ask(ca)))).toBe('unreachable: no answer within 10 seconds')
})

test('a CA that the mesh does not trust gets neither token nor request', async () => {
  const ca = await fakeCa()
  const { pem } = await newAuthority('Other root')
  expect(await failure(ask(ca, { roots: pem }))).toMatch(
    /^untrusted: its certificate is not signed by a root in \/roots\.pem \(certificate-untrusted: .+\)$/,
  )
  expect(ca.seen).toEqual([])
})

test('a CA with another name', async () => {
  const ca = await fakeCa()
  const url = new URL(ca.url.replace('127.0.0.1', 'localhost'))
  expect(await failure(ask(ca, { url }))).toMatch(/^untrusted: its certificate cannot be used \(certificate-name: /)
})

test('no CA at the address', async () => {
  const port = await freePort()
  const ca = await fakeCa()
  expect(await failure(ask(ca, { url: new URL(`https://127.0.0.1:${port}`) }))).toBe(
    `unreachable: connection-refused: 127.0.0.1:${port}`,
  )
})

test('a question can be given up', async () => {
  const ca = await fakeCa()
  const closing = new AbortController()
  ca.answer = async () => {
    closing.abort()
    return 'nothing'
  }
  const { csr } = await createIdentityRequest(ID)
  const question = { rootsFile: '/roots.pem', token: 'the-token', csr, lifeSeconds: 1 }
  const asked = askCa({ url: new URL(ca.url), roots: ca.roots, ...question }, closing.signal)
  expect(await failure(asked)).toBe('unreachable: the proxy is stopping')
})
