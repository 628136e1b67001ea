import { randomBytes } from 'node:crypto'
import tls from 'node:tls'
import { afterEach, expect, test, vi } from 'vitest'
import { clock } from '#base/clock.ts'
import { verifies } from '#test/support/verifies.ts'
import { CERTIFICATES } from '../testing/certificates.ts'
import { RawClient } from '../testing/raw-peers.ts'
import { answerWith, RecordingHandler } from '../testing/recording-handler.ts'
import type { TlsParameters } from '../tls-parameters.ts'
import type { TlsTermination } from './listen-tls.ts'
import { type ListenOptions, listen } from './listener.ts'
import { type CertificateSecret, SecureContexts, type TlsIdentity } from './secure-contexts.ts'

const cleanup: (() => unknown)[] = []

afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const SECRET: CertificateSecret = {
  data: { 'tls.crt': CERTIFICATES.server.cert, 'tls.key': CERTIFICATES.server.key },
}
const PARAMETERS: TlsParameters = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256',
  groups: undefined,
}
const IDENTITY: TlsIdentity = { certificates: [SECRET], parameters: PARAMETERS, clientAuthorities: undefined }

type Wanted = Partial<Pick<TlsTermination, 'alpnProtocols' | 'clientCertificate'>>

/** A listener with these contexts. */
async function serve(
  contexts: SecureContexts,
  identity: Partial<TlsIdentity>,
  wanted: Wanted = {},
  options: Partial<ListenOptions> = {},
): Promise<{ port: number; told: string[] }> {
  const told: string[] = []
  const whole = { ...IDENTITY, ...identity }
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    handler: new RecordingHandler((stream) => {
      told.push(stream.peer.certificate?.subject ?? 'nobody')
      answerWith(stream, 'ok')
    }),
    traffic: {
      choose: ({ serverName }) => {
        const context = contexts.of(serverName, whole)
        if (context === undefined) return 'unknown-name'
        return { context, alpnProtocols: [], clientCertificate: 'none', carries: 'http', ...wanted }
      },
    },
    refused: (_, why) => told.push(why),
    ...options,
  })
  cleanup.push(() => listener.close())
  return { port: listener.port, told }
}

interface Met {
  readonly protocol: string | null
  readonly suite: string
  readonly group: string | undefined
  readonly alpn: string | false | null
  readonly resumed: boolean
  readonly session: Buffer | undefined
  readonly answer: string
}

/** One request of a real client on a separate connection. Rejects with the code of the error. */
function meet(port: number, options: tls.ConnectionOptions = {}): Promise<Met> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ port, host: '127.0.0.1', servername: 'server.test', ca: CERTIFICATES.ca, ...options })
    let session: Buffer | undefined
    let answer = ''
    let met: Omit<Met, 'session' | 'answer'> | undefined
    socket.on('session', (given) => {
      session = given
    })
    socket.on('secureConnect', () => {
      const { name } = socket.getEphemeralKeyInfo() as { name?: string }
      met = {
        protocol: socket.getProtocol(),
        suite: socket.getCipher().name,
        group: name,
        alpn: socket.alpnProtocol,
        resumed: socket.isSessionReused(),
      }
      socket.write('GET / HTTP/1.1\r\nHost: server.test\r\nConnection: close\r\n\r\n')
    })
    socket.on('data', (bytes) => {
      answer += bytes
    })
    socket.on('error', (error: NodeJS.ErrnoException) => reject(new Error(error.code)))
    socket.on('close', () => {
      if (met === undefined || answer === '') reject(new Error('closed'))
      else resolve({ ...met, session, answer })
    })
  })
}

function createContexts(keys: Uint8Array = randomBytes(48)): SecureContexts {
  return new SecureContexts(keys)
}

const TLS12: tls.ConnectionOptions = { maxVersion: 'TLSv1.2' }

verifies('tls/versions', 'versions outside of the range are refused, and those before 1.2 always', async () => {
  const newer = await serve(createContexts(), { parameters: { ...PARAMETERS, minVersion: 'TLSv1.3' } })
  expect((await meet(newer.port)).protocol).toBe('TLSv1.3')
  await expect(meet(newer.port, TLS12)).rejects.toThrow('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
  expect(newer.told).toEqual(['nobody', 'handshake-failed'])
  const older = await serve(createContexts(), { parameters: { ...PARAMETERS, maxVersion: 'TLSv1.2' } })
  expect((await meet(older.port)).protocol).toBe('TLSv1.2')
  const both = await serve(createContexts(), { parameters: { ...PARAMETERS, ciphers: 'ALL:@SECLEVEL=0' } })
  expect([(await meet(both.port)).protocol, (await meet(both.port, TLS12)).protocol]).toEqual(['TLSv1.3', 'TLSv1.2'])
  await expect(
    meet(both.port, { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
  ).rejects.toThrow('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
})

test.each([
  [['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384'], {}],
  [['TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_256_GCM_SHA384'], {}],
  [['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384'], TLS12],
  [['ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-ECDSA-AES128-GCM-SHA256'], TLS12],
])('the first of %j is selected, whatever the client prefers', async (suites, options) => {
  const version = options === TLS12 ? 'TLSv1.2' : 'TLSv1.3'
  const parameters = { ...PARAMETERS, ciphers: suites.join(':'), minVersion: version, maxVersion: version } as const
  const { port } = await serve(createContexts(), { parameters })
  expect((await meet(port, { ...options, ciphers: suites.toReversed().join(':') })).suite).toBe(suites[0])
  await expect(
    meet(port, { ...options, ciphers: options === TLS12 ? 'ECDHE-RSA-AES256-GCM-SHA384' : 'TLS_AES_128_CCM_SHA256' }),
  ).rejects.toThrow()
})

test.each([
  ['X25519MLKEM768', 'X25519MLKEM768', 'X25519MLKEM768:X25519'],
  ['P-384/X25519', 'secp384r1', 'X25519:P-384'],
  ['X25519/P-384', 'X25519', 'P-384:X25519'],
  ['X25519/X25519MLKEM768', 'X25519', 'X25519MLKEM768:X25519'],
  ['P-256', 'prime256v1', 'X25519:P-256'],
])('of the groups %s, %s is selected', async (groups, taken, offered) => {
  const { port } = await serve(createContexts(), { parameters: { ...PARAMETERS, groups } })
  expect((await meet(port, { ecdhCurve: offered })).group).toBe(taken)
})

test('a client without a common group is refused', async () => {
  const { port } = await serve(createContexts(), { parameters: { ...PARAMETERS, groups: 'X25519MLKEM768' } })
  await expect(meet(port, { ecdhCurve: 'X25519' })).rejects.toThrow('ERR_SSL_')
})

test('ALPN: the first common protocol of the list; no common one is refused; no offer is accepted', async () => {
  const { port, told } = await serve(createContexts(), {}, { alpnProtocols: ['b', 'a', 'http/1.1'] })
  expect((await meet(port, { ALPNProtocols: ['a', 'b'] })).alpn).toBe('b')
  expect((await meet(port)).alpn).toBe(false)
  await expect(meet(port, { ALPNProtocols: ['c'] })).rejects.toThrow('ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
  expect(told).toEqual(['nobody', 'nobody', 'handshake-failed'])
})

test('a handshake that takes too long', async () => {
  const { port, told } = await serve(createContexts(), {}, {}, { handshakeTimeoutMs: 100 })
  for (const words of ['', '\x16\x03\x01\x02']) {
    const client = await RawClient.connect(port)
    client.send(words)
    expect(await client.untilEnd()).toBe('')
    client.close()
  }
  expect(told).toEqual(['handshake-timeout', 'handshake-timeout'])
})

// Sessions.

test.each([
  ['TLS 1.3', {}],
  ['TLS 1.2', TLS12],
])('%s: a session of one worker is resumed by another', async (_, options) => {
  const keys = randomBytes(48)
  const first = await serve(createContexts(keys), {})
  const second = await serve(createContexts(keys), {})
  const { session, resumed } = await meet(first.port, options)
  expect(resumed).toBe(false)
  expect((await meet(second.port, { ...options, session })).resumed).toBe(true)
  const stranger = await serve(createContexts(), {})
  expect((await meet(stranger.port, { ...options, session })).resumed).toBe(false)
})

test('new ticket keys invalidate old sessions, and new handshakes work', async () => {
  const contexts = createContexts()
  const { port } = await serve(contexts, {})
  const { session } = await meet(port)
  contexts.changeTicketKeys(randomBytes(48))
  const next = await meet(port, { session })
  expect(next.resumed).toBe(false)
  expect((await meet(port, { session: next.session })).resumed).toBe(true)
})

test('a session of one listener is not resumed at another', async () => {
  const { port } = await serve(createContexts(), {})
  const { session } = await meet(port, { servername: 'server.test' })
  expect((await meet(port, { session, servername: 'a.wild.test' })).resumed).toBe(false)
})

// Client certificates.

const CLIENT: tls.ConnectionOptions = { cert: CERTIFICATES.client.cert, key: CERTIFICATES.client.key }
const VALID: Wanted = { clientCertificate: 'valid' }
const TRUSTED: Partial<TlsIdentity> = { clientAuthorities: CERTIFICATES.ca }

test.each([
  ['TLS 1.3', {}],
  ['TLS 1.2', TLS12],
])('%s: a client with a valid certificate is accepted, also with a resumed session', async (_, options) => {
  const { port, told } = await serve(createContexts(), TRUSTED, VALID)
  const { session } = await meet(port, { ...options, ...CLIENT })
  expect((await meet(port, { ...options, ...CLIENT, session })).resumed).toBe(true)
  expect(told).toEqual(['CN=client.test', 'CN=client.test'])
})

test.each([
  ['TLS 1.3', {}],
  ['TLS 1.2', TLS12],
])('%s: a client without a certificate, or with another one, is refused', async (_, options) => {
  const { port, told } = await serve(createContexts(), TRUSTED, VALID)
  await expect(meet(port, options)).rejects.toThrow()
  const other = await serve(createContexts(), { clientAuthorities: CERTIFICATES.server.cert }, VALID)
  await expect(meet(other.port, { ...options, ...CLIENT })).rejects.toThrow()
  expect([...told, ...other.told]).toEqual(['handshake-failed', 'client-certificate-invalid'])
})

test('a session without a client certificate is not resumed where one is required', async () => {
  const contexts = createContexts()
  const open = await serve(contexts, {})
  const { session } = await meet(open.port)
  const closed = await serve(contexts, TRUSTED, VALID)
  await expect(meet(closed.port, { session })).rejects.toThrow()
  expect((await meet(closed.port, { session, ...CLIENT })).resumed).toBe(false)
  expect(closed.told).toEqual(['handshake-failed', 'CN=client.test'])
})

test('nor is one from a listener with the same authorities that accepts clients without a certificate', async () => {
  const contexts = createContexts()
  const before = await serve(contexts, TRUSTED, { clientCertificate: 'any' })
  const { session } = await meet(before.port)
  const after = await serve(contexts, TRUSTED, VALID)
  await expect(meet(after.port, { session })).rejects.toThrow()
  expect(after.told).toEqual(['client-certificate-invalid'])
})

test('a certificate that has expired since its session began', async () => {
  const { port, told } = await serve(createContexts(), TRUSTED, VALID)
  const { session } = await meet(port, CLIENT)
  vi.spyOn(clock, 'now').mockReturnValue(Date.UTC(2300, 0))
  await expect(meet(port, { ...CLIENT, session })).rejects.toThrow()
  expect(told).toEqual(['CN=client.test', 'client-certificate-invalid'])
})

test('a session with a certificate of an authority that is not trusted any more is not resumed', async () => {
  const contexts = createContexts()
  const before = await serve(contexts, TRUSTED, VALID)
  const { session } = await meet(before.port, CLIENT)
  const after = await serve(contexts, { clientAuthorities: CERTIFICATES.server.cert }, VALID)
  await expect(meet(after.port, { session, ...CLIENT })).rejects.toThrow()
  expect(after.told).toEqual(['client-certificate-invalid'])
})

test('with invalid authorities no client certificate is valid', async () => {
  const clientAuthorities = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
  const { port, told } = await serve(createContexts(), { clientAuthorities }, VALID)
  await expect(meet(port, CLIENT)).rejects.toThrow()
  expect(told).toEqual(['client-certificate-invalid'])
})

test('where all clients are accepted, only a valid certificate identifies one', async () => {
  const any: Wanted = { clientCertificate: 'any' }
  const { port, told } = await serve(createContexts(), TRUSTED, any)
  await meet(port)
  await meet(port, CLIENT)
  const other = await serve(createContexts(), { clientAuthorities: CERTIFICATES.server.cert }, any)
  const { session } = await meet(other.port, CLIENT)
  await meet(other.port, { ...CLIENT, session })
  expect([...told, ...other.told]).toEqual(['nobody', 'CN=client.test', 'nobody', 'nobody'])
})

// Creation of contexts.

test('a context is created once, and again when its settings change', () => {
  const contexts = createContexts()
  const first = contexts.of('a', IDENTITY)
  expect(contexts.of('a', { ...IDENTITY })).toBe(first)
  expect(contexts.of('b', IDENTITY)).not.toBe(first)
  const renewed = contexts.of('a', { ...IDENTITY, certificates: [{ ...SECRET }] })
  expect(renewed).not.toBe(first)
  contexts.keep(new Set(['b']))
  expect(contexts.of('a', { ...IDENTITY, certificates: [{ ...SECRET }] })).not.toBe(renewed)
})

test.each<[string, Partial<TlsIdentity>]>([
  ['no certificate', { certificates: [] }],
  ['no key', { certificates: [{ data: { 'tls.crt': CERTIFICATES.server.cert } }] }],
  [
    'the key of another certificate',
    { certificates: [{ data: { 'tls.crt': CERTIFICATES.server.cert, 'tls.key': CERTIFICATES.client.key } }] },
  ],
])('no usable certificate: %s', (_, identity) => {
  expect(createContexts().of('a', { ...IDENTITY, ...identity })).toBeUndefined()
})

test('an unusable pair beside a usable one, and the first of two of one type', async () => {
  const broken = { data: { 'tls.crt': CERTIFICATES.server.cert, 'tls.key': CERTIFICATES.client.key } }
  const other = { data: { 'tls.crt': CERTIFICATES.client.cert, 'tls.key': CERTIFICATES.client.key } }
  const { port } = await serve(createContexts(), { certificates: [broken, SECRET, other] })
  expect((await meet(port)).answer).toContain('200 OK')
})

test('RSA and ECDSA together: the one that the client supports', async () => {
  const rsa = { data: { 'tls.crt': CERTIFICATES.serverRsa.cert, 'tls.key': CERTIFICATES.serverRsa.key } }
  const { port } = await serve(createContexts(), { certificates: [SECRET, rsa] })
  const shown = async (sigalgs: string) => (await meet(port, { sigalgs, rejectUnauthorized: false })).answer
  expect(await shown('ecdsa_secp256r1_sha256')).toContain('200 OK')
  expect(await shown('rsa_pss_rsae_sha256')).toContain('200 OK')
})
