import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { clock } from '#base/clock.ts'
import { CERTIFICATES } from '#net/testing/certificates.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import type { Authorise } from './plan-server.ts'
import type { Admission } from './proxy-stream.ts'
import type { StreamEnd } from './served-stream.ts'
import { everybody, frame, routeTo, startClient, startServer } from './testing.ts'

const PLAN = [...frame(), ...routeTo('a')]
const TLS = { tls: () => createSecureContext(CERTIFICATES.server) }

function file(name: string, text: string): string {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, text)
  return path
}

/** Admits the proxy with that token. */
const onlyWith =
  (token: () => string): Authorise =>
  async (metadata, peer) =>
    metadata.get('authorization') === `Bearer ${token()}`
      ? everybody(metadata, peer)
      : { status: 'unauthenticated', message: 'the token is not one of a proxy' }

test('over TLS, with a token', async () => {
  const server = await startServer(PLAN, { ...TLS, authorise: onlyWith(() => 'abc') })
  const { client } = startClient(server.url, { caFile: file('ca', CERTIFICATES.ca), tokenFile: file('token', 'abc\n') })
  await eventually('ready', () => client.whyNotReady === undefined)
})

test('files are read again for each attempt', async () => {
  const server = await startServer(PLAN, { ...TLS, authorise: onlyWith(() => 'second-token') })
  const caFile = file('ca', CERTIFICATES.meshCa)
  const tokenFile = file('token', 'first-token')
  const { client, logged, disconnected } = startClient(server.url, { caFile, tokenFile })
  await eventually('untrusted', () => disconnected()?.startsWith('certificate-untrusted'))
  writeFileSync(caFile, CERTIFICATES.ca)
  await eventually('refused', () => disconnected() === 'UNAUTHENTICATED: the token is not one of a proxy')
  expect(client.whyNotReady).toBe(
    `the controller at ${server.url}, with the token of ${tokenFile}, gives no plan: UNAUTHENTICATED: the token is not one of a proxy; retrying`,
  )
  writeFileSync(tokenFile, 'second-token')
  await eventually('ready', () => client.whyNotReady === undefined)
  expect(logged.join()).not.toMatch(/first-token|second-token/)
  expect(logged.at(-1)).toMatch(/^info connected to the controller/)
  expect(server.refused.join()).not.toMatch(/first-token/)
})

test('a token that ends takes the stream with it, and the proxy comes back with the next one', async () => {
  let token = 'first'
  const authorise: Authorise = async (metadata, peer) => {
    const admission = await onlyWith(() => token)(metadata, peer)
    return 'status' in admission || token === 'second' ? admission : { ...admission, expiresMs: Date.now() + 300 }
  }
  const server = await startServer(PLAN, { authorise })
  const tokenFile = file('token', 'first')
  const { client, target } = startClient(server.url, { tokenFile })
  await eventually('ready', () => client.whyNotReady === undefined)
  token = 'second'
  writeFileSync(tokenFile, 'second')
  await eventually('expired', () => server.left.includes('the credential has expired'))
  server.edit(routeTo('b'))
  await eventually('back', () => target.items.has('HTTPRoute/default/b/0'))
})

test.each([
  [
    'no URL',
    { url: 'controller' },
    'the address of the controller, "controller", is not a URL with scheme https or http',
  ],
  [
    'a token without TLS',
    { url: 'http://controller.test:1', tokenFile: '/none' },
    'http://controller.test:1 is not HTTPS, so the token of /none is not sent; use https',
  ],
  ['no token file', { url: 'https://127.0.0.1:1', tokenFile: '/none' }, 'the token in /none cannot be read: ENOENT'],
  [
    'no CA file',
    { url: 'https://127.0.0.1:1', caFile: '/none' },
    'the certificate authorities in /none cannot be read: ENOENT',
  ],
  ['nobody there', { url: 'http://127.0.0.1:1' }, 'connection-refused'],
])('%s: the proxy says so, and retries', async (_, options, cause) => {
  const { client, logged, disconnected } = startClient(options.url, options)
  await eventually('failed', () => disconnected() !== undefined)
  expect(disconnected()).toContain(cause)
  expect(client.whyNotReady).toContain(`${cause}`)
  expect(client.whyNotReady).toMatch(/; retrying$/)
  expect(logged[0]).toMatch(/^warn no connection to the controller/)
})

test('a token file with two lines', async () => {
  const tokenFile = file('token', 'secret-one\nsecret-two')
  const { disconnected } = startClient('http://127.0.0.1:1', { tokenFile })
  await eventually('failed', () => disconnected() !== undefined)
  expect(disconnected()).toBe(`${tokenFile} does not contain one token`)
})

test('a failed check of the credential is not an admission', async () => {
  const bugs: unknown[] = []
  const authorise = async () => {
    throw new Error('secret')
  }
  const server = await startServer(PLAN, { authorise, reportBug: (error) => bugs.push(error) })
  const { disconnected } = startClient(server.url)
  await eventually('failed', () => disconnected() !== undefined)
  expect(disconnected()).toBe('UNAVAILABLE: the credential cannot be checked now')
  expect(bugs.length).toBeGreaterThan(0)
})

test('without a server the proxy keeps its plan, and gets the changes of the next one', async () => {
  const first = await startServer(PLAN)
  const { client, target, disconnected } = startClient(first.url)
  await eventually('ready', () => client.whyNotReady === undefined)
  await first.server.close()
  await eventually('gone', () => disconnected() !== undefined)
  expect(client.whyNotReady).toBeUndefined()
  await startServer([...PLAN, ...routeTo('b')], { port: first.port })
  await eventually('back', () => target.items.has('HTTPRoute/default/b/0'))
  expect(disconnected()).toBeUndefined()
  expect(target.deltas.slice(1).flatMap(({ set }) => set).length).toBe(3)
})

test.each([
  ['shortest', 0, 27],
  ['longest', 1, 33],
])('the %s life of a stream ends it, and the proxy comes back at once', async (_, random, minutes) => {
  const after = clock.after
  const lives: (() => void)[] = []
  clock.after = (ms, run) => {
    if (Math.round(ms) === minutes * 60_000) lives.push(run)
    return after(ms, run)
  }
  onTestFinished(() => {
    clock.after = after
  })
  const server = await startServer(PLAN, { random: () => random })
  const { client, logged, disconnected } = startClient(server.url)
  await eventually('ready', () => client.whyNotReady === undefined)
  lives[0]!()
  await eventually('back', () => lives.length === 2)
  expect(server.left).toEqual(['the stream has reached its age'])
  expect(disconnected()).toBeUndefined()
  expect(logged).toEqual([])
})

test.each<[name: string, later: Admission | StreamEnd | Error, left: string | undefined]>([
  ['a credential that still holds', { gateway: 'Gateway/default/main', identity: 'pod-1' }, undefined],
  ['a check that fails', new Error('no API'), undefined],
  ['a check that is not possible now', { status: 'unavailable', message: 'no API' }, undefined],
  ['a deleted pod', { status: 'unauthenticated', message: 'the pod is gone' }, 'the pod is gone'],
  [
    'another Gateway',
    { gateway: 'Gateway/default/other', identity: 'pod-1' },
    'the credential is for another Gateway now',
  ],
])('each minute the credential is checked again: %s', async (_, later, left) => {
  const { after } = clock
  const checks: (() => void)[] = []
  clock.after = (ms, run) => {
    if (ms === 72_000) checks.push(run)
    return after(ms, run)
  }
  onTestFinished(() => {
    clock.after = after
  })
  let answer: Admission | StreamEnd | Error = { gateway: 'Gateway/default/main', identity: 'pod-1' }
  const authorise: Authorise = async () => {
    if (answer instanceof Error) throw answer
    return answer
  }
  const server = await startServer(PLAN, { authorise, random: () => 1, reportBug: () => {} })
  const { client } = startClient(server.url)
  await eventually('ready', () => client.whyNotReady === undefined)
  answer = later
  checks[0]!()
  if (left === undefined) await eventually('checked', () => checks.length === 2)
  else await eventually('ended', () => server.left.includes(left))
  expect(server.left).toEqual(left === undefined ? [] : [left])
})
