import { readFileSync } from 'node:fs'
import { freePort } from '../../support/free-port.ts'
import { authoritiesYaml, tlsSecretYaml } from '../../support/tls-objects.ts'
import { startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { Authority, type Certificate, chainFile } from './authority.ts'
import { answerOf, backendAt } from './backend-at.ts'
import { partFolder, startNginx } from './proxy-software.ts'

/** What a server shows, how the gateway checks it, and the failure; no failure: 200. */
interface Case {
  readonly what: string
  /** Name of its server in {@link serversOf}. */
  readonly server: string
  /** `backend.tls`; default: the root is trusted, and the name is `server.test`. */
  readonly tls?: object
  readonly failure?: string
}

const ROOT = { caCertificateRefs: [{ name: 'root' }] }
const NAMED = { ...ROOT, sni: 'server.test' }
const accepting = (...verifySubjectAltNames: readonly string[]) => ({ ...NAMED, verifySubjectAltNames })
const withClient = (name: string) => ({ ...NAMED, mtlsCertificateRef: [{ name }] })

const CASES: readonly Case[] = [
  { what: 'the right name', server: 'right' },
  { what: 'an RSA key', server: 'rsa' },
  { what: 'an intermediate that the server sends', server: 'chained' },
  { what: 'an intermediate that is missing', server: 'missing', failure: 'certificate-untrusted' },
  {
    what: 'a missing intermediate that is trusted',
    server: 'missing',
    tls: { ...NAMED, caCertificateRefs: [{ name: 'both' }] },
  },
  {
    what: 'an unknown authority',
    server: 'right',
    tls: { ...NAMED, caCertificateRefs: [{ name: 'other' }] },
    failure: 'certificate-untrusted',
  },
  {
    what: 'the authorities of the system',
    server: 'right',
    tls: { sni: 'server.test' },
    failure: 'certificate-untrusted',
  },
  { what: 'a certificate that signed itself', server: 'self', failure: 'certificate-untrusted' },
  { what: 'another host', server: 'right', tls: { ...NAMED, sni: 'other.test' }, failure: 'certificate-name' },
  { what: 'the name only as common name', server: 'common', failure: 'certificate-name' },
  { what: 'expired', server: 'expired', failure: 'certificate-expired' },
  { what: 'of a client', server: 'client-usage', failure: 'certificate-invalid' },
  { what: 'signed by the certificate of a server', server: 'by-leaf', failure: 'certificate-invalid' },
  { what: 'a wildcard, one label', server: 'wildcard', tls: { ...NAMED, sni: 'a.wild.test' } },
  {
    what: 'a wildcard, two labels',
    server: 'wildcard',
    tls: { ...NAMED, sni: 'a.b.wild.test' },
    failure: 'certificate-name',
  },
  {
    what: 'a wildcard, no label',
    server: 'wildcard',
    tls: { ...NAMED, sni: 'wild.test' },
    failure: 'certificate-name',
  },
  { what: 'the address as name', server: 'address', tls: ROOT },
  { what: 'the address is missing', server: 'right', tls: ROOT, failure: 'certificate-name' },
  { what: 'the address as text of a DNS name', server: 'address-text', tls: ROOT, failure: 'certificate-name' },
  { what: 'a list with one of its DNS names', server: 'many', tls: accepting('x.test', 'second.test') },
  { what: 'a list with its URI', server: 'many', tls: accepting('spiffe://cluster.test/ns/a/sa/b') },
  {
    what: 'a list with a longer URI',
    server: 'many',
    tls: accepting('spiffe://cluster.test/ns/a/sa/bc'),
    failure: 'certificate-name',
  },
  { what: 'a list with its address', server: 'many', tls: accepting('10.1.2.3') },
  {
    what: 'a list with none of its names',
    server: 'many',
    tls: accepting('x.test', '10.1.2.4'),
    failure: 'certificate-name',
  },
  { what: 'a list replaces the host name', server: 'right', tls: accepting('x.test'), failure: 'certificate-name' },
  {
    what: 'a list and an unknown authority',
    server: 'many',
    tls: { ...accepting('second.test'), caCertificateRefs: [{ name: 'other' }] },
    failure: 'certificate-untrusted',
  },
  {
    what: 'Hostname: another host',
    server: 'right',
    tls: { ...NAMED, sni: 'other.test', insecureSkipVerify: 'Hostname' },
  },
  {
    what: 'Hostname: an unknown authority',
    server: 'self',
    tls: { ...NAMED, insecureSkipVerify: 'Hostname' },
    failure: 'certificate-untrusted',
  },
  { what: 'All: expired', server: 'expired', tls: { insecureSkipVerify: 'All' } },
  { what: 'All: signed itself', server: 'self', tls: { insecureSkipVerify: 'All' } },
  { what: 'TLS 1.2 only', server: 'tls12' },
  { what: 'TLS 1.1 only', server: 'tls11', failure: 'handshake-failed' },
  { what: 'one key exchange group', server: 'group', tls: { ...NAMED, keyExchangeGroups: ['P-384'] } },
  {
    what: 'no common key exchange group',
    server: 'group',
    tls: { ...NAMED, keyExchangeGroups: ['X25519'] },
    failure: 'handshake-failed',
  },
  { what: 'a server without TLS', server: 'plain', failure: 'handshake-failed' },
  { what: 'a client certificate', server: 'mutual', tls: withClient('client') },
  { what: 'a client certificate with its intermediate', server: 'mutual', tls: withClient('client-chained') },
]

/** Chains of certificates that OpenSSL made, shown by nginx. */
export async function checkCertificates(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const folder = partFolder(stops)
  const root = Authority.root(folder, 'root')
  const other = Authority.root(folder, 'other')
  const between = root.intermediate('between')
  const clientOrder = { names: '', usage: 'clientAuth' }
  const clients = {
    client: root.issue('client', clientOrder),
    'client-chained': chained(between.issue('client-chained', clientOrder), between),
    'client-other': other.issue('client-other', clientOrder),
  }
  const servers = await serversOf(folder, root, between)
  const ports = Object.fromEntries(servers.map(({ name, port }) => [name, port]))
  await startNginx(stops, { folder, ports: Object.values(ports) }, servers.map(({ block }) => block).join('\n'))
  const cases = CASES.map((one, i) => ({ ...one, name: `case-${i}` }))
  const front = await startFront(
    stops,
    authoritiesYaml('root', root.pem),
    authoritiesYaml('other', other.pem),
    authoritiesYaml('both', root.pem + between.pem),
    ...Object.entries(clients).map(([name, { cert, key }]) =>
      tlsSecretYaml(name, { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }),
    ),
    ...cases.map(({ name, server, tls }) => backendAt(name, ports[server]!, { tls: tls ?? NAMED })),
    ...['none', 'client-other'].map((name) =>
      backendAt(`refused-${name}`, ports.mutual!, { tls: name === 'none' ? NAMED : withClient(name) }),
    ),
  )
  for (const { what, name, failure } of cases) {
    const answer = await answerOf(front, `/${name}`)
    transcript.check(what, answer, failure === undefined ? [200, undefined] : [503, failure])
  }
  const shown = await front.ask(`/case-${CASES.findIndex(({ server }) => server === 'mutual')}`)
  transcript.check('the server reads its subject', await shown.text(), 'CN=client')
  // nginx completes the handshake, and answers without asking anybody else.
  transcript.check('no client certificate', (await front.ask('/refused-none')).status, 400)
  transcript.check(
    'a client certificate of an unknown authority',
    (await front.ask('/refused-client-other')).status,
    400,
  )
}

function chained(certificate: Certificate, ...more: readonly Certificate[]): Certificate {
  return { cert: chainFile(certificate, ...more), key: certificate.key }
}

async function serversOf(folder: string, root: Authority, between: Authority) {
  const names = 'DNS:server.test'
  const right = root.issue('right', { names })
  const leaf = root.issue('leaf', { names })
  const rsa = ['-newkey', 'rsa:2048']
  const many = 'DNS:first.test,DNS:second.test,IP:10.1.2.3,URI:spiffe://cluster.test/ns/a/sa/b,email:a@second.test'
  const shown: Readonly<Record<string, Certificate | undefined>> = {
    right,
    rsa: root.issue('rsa', { names, key: rsa }),
    chained: chained(between.issue('chained', { names }), between),
    missing: between.issue('missing', { names }),
    self: Authority.root(folder, 'server.test'),
    common: root.issue('common', { names: 'DNS:other.test', commonName: 'server.test' }),
    expired: root.issue('expired', { names, days: -1 }),
    'client-usage': root.issue('client-usage', { names, usage: 'clientAuth' }),
    'by-leaf': chained(root.signingWith(leaf).issue('by-leaf', { names }), leaf),
    wildcard: root.issue('wildcard', { names: 'DNS:*.wild.test' }),
    address: root.issue('address', { names: 'IP:127.0.0.1' }),
    'address-text': root.issue('address-text', { names: 'DNS:127.0.0.1' }),
    many: root.issue('many', { names: many }),
    tls12: right,
    tls11: right,
    group: right,
    mutual: right,
    plain: undefined,
  }
  const lines: Readonly<Record<string, string>> = {
    tls12: 'ssl_protocols TLSv1.2;',
    tls11: 'ssl_protocols TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;',
    group: 'ssl_ecdh_curve secp384r1;',
    mutual: `ssl_client_certificate ${root.cert}; ssl_verify_client on; ssl_verify_depth 2;`,
  }
  const servers: { name: string; port: number; block: string }[] = []
  for (const [name, certificate] of Object.entries(shown)) {
    const port = await freePort()
    const tls = certificate && `ssl_certificate ${certificate.cert}; ssl_certificate_key ${certificate.key};`
    const versions = lines[name]?.includes('ssl_protocols') ? '' : 'ssl_protocols TLSv1.2 TLSv1.3;'
    const listen = `listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'};`
    const block = `server { ${listen} ${tls ?? ''} ${versions} ${lines[name] ?? ''} return 200 $ssl_client_s_dn; }`
    servers.push({ name, port, block })
  }
  return servers
}
