import { X509Certificate } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { clock } from '#base/clock.ts'
import { type CredentialFiles, loadCredentials } from './credentials.ts'
import { kubeconfig } from './kubeconfig.ts'

const now = clock.now
afterEach(() => {
  clock.now = now
})

/** A state folder in memory. */
function memoryFiles(): CredentialFiles & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>()
  return {
    texts,
    read(name, parseText) {
      const text = texts.get(name)
      try {
        return text === undefined ? undefined : parseText(text)
      } catch {
        return undefined
      }
    },
    write: (name, text) => void texts.set(name, text),
  }
}

test('the certificate is issued by the authority, for the local names', async () => {
  const { ca, certificate } = await loadCredentials(memoryFiles(), '127.0.0.1')
  const [authority, server] = [new X509Certificate(ca), new X509Certificate(certificate)]
  expect([authority.ca, server.ca, server.checkIssued(authority), server.verify(authority.publicKey)]).toEqual([
    true,
    false,
    true,
    true,
  ])
  expect([server.checkHost('localhost'), server.checkIP('127.0.0.1'), server.checkIP('::1')]).toEqual([
    'localhost',
    '127.0.0.1',
    '::1',
  ])
})

test('a second start has the same credentials', async () => {
  const files = memoryFiles()
  const first = await loadCredentials(files, '127.0.0.1')
  expect(await loadCredentials(files, '127.0.0.1')).toEqual(first)
  expect(first.token).toMatch(/^[\w-]{43}$/)
})

test.each(['{', '{"ca":"x"}', '{"ca":"x","certificate":"x","key":"x","token":"x"}'])(
  'damaged credentials %s are replaced',
  async (text) => {
    const files = memoryFiles()
    files.write('api-credentials.json', text)
    const { token } = await loadCredentials(files, '127.0.0.1')
    expect(token).toHaveLength(43)
    expect(files.texts.get('api-credentials.json')).toContain(token)
  },
)

test('a certificate for another address, or that expires soon, is renewed; the token stays', async () => {
  const files = memoryFiles()
  const first = await loadCredentials(files, '127.0.0.1')
  const other = await loadCredentials(files, '192.0.2.7')
  expect(new X509Certificate(other.certificate).checkIP('192.0.2.7')).toBe('192.0.2.7')
  clock.now = () => now() + 3640 * 24 * 60 * 60_000
  const later = await loadCredentials(files, '192.0.2.7')
  expect([other.token, later.token]).toEqual([first.token, first.token])
  expect(new Set([first, other, later].map(({ ca }) => ca)).size).toBe(3)
})

test('the kubeconfig has the server, its authority and the token', () => {
  const { clusters, users, contexts, ...rest } = parse(
    kubeconfig({ server: 'https://127.0.0.1:1', ca: 'PEM', token: 't' }),
  )
  expect(rest['current-context']).toBe('gatewright')
  expect(clusters[0].cluster).toEqual({ server: 'https://127.0.0.1:1', 'certificate-authority-data': 'UEVN' })
  expect([users[0].user, contexts[0].context.namespace]).toEqual([{ token: 't' }, 'default'])
})
