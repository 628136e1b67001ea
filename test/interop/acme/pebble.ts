import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import { createCertificate } from '../../../src/apiserver/credentials/certificates.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway-process.ts'
import { installedGoProgram, startServer } from '../counterparts.ts'
import type { Part } from '../run-parts.ts'

const VERSION = 'v2.10.3'
const MODULE = 'github.com/letsencrypt/pebble/v2/cmd'
/** Longer than an exchange with Pebble takes on a loaded machine. */
const PATIENCE_MS = 120_000
const BLOCKED = 'blocked.test'

interface Setting {
  readonly folder: string
  readonly directory: string
  /** Authorities of Pebble's own certificate. */
  readonly ca: string
  readonly ports: { readonly http: number; readonly https: number }
}

/** Starts Pebble and its name server. @param lifeSeconds of certificates */
async function startPebble(stops: AsyncDisposableStack, lifeSeconds: number): Promise<Setting> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-acme-'))
  stops.defer(() => rmSync(folder, { recursive: true }))
  const ports = { http: await freePort(), https: await freePort() }
  const [acme, management, dns] = [await freePort(), await freePort(), await freePort()]
  const own = await createCertificate({ dns: ['localhost'], ips: ['127.0.0.1'] })
  const files = { 'ca.pem': own.ca, 'cert.pem': own.certificate, 'key.pem': own.key }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const pebble = {
    listenAddress: `127.0.0.1:${acme}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: join(folder, 'cert.pem'),
    privateKey: join(folder, 'key.pem'),
    httpPort: ports.http,
    tlsPort: ports.https,
    domainBlocklist: [BLOCKED],
    retryAfter: { authz: 1, order: 1 },
    keyAlgorithm: 'ecdsa',
    profiles: { default: { description: 'for this test', validityPeriod: lifeSeconds } },
  }
  writeFileSync(join(folder, 'pebble.json'), JSON.stringify({ pebble }))
  const names = installedGoProgram('pebble-challtestsrv', `${MODULE}/pebble-challtestsrv@${VERSION}`)
  const off = [
    '-http01',
    '',
    '-https01',
    '',
    '-tlsalpn01',
    '',
    '-doh',
    '',
    '-management',
    `127.0.0.1:${await freePort()}`,
  ]
  stops.use(startServer(names, { words: [...off, '-dnsserver', `127.0.0.1:${dns}`, '-defaultIPv6', ''] }))
  stops.use(
    startServer(installedGoProgram('pebble', `${MODULE}/pebble@${VERSION}`), {
      words: ['-strict', '-config', join(folder, 'pebble.json'), '-dnsserver', `127.0.0.1:${dns}`],
      environment: { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '25' },
      cwd: folder,
    }),
  )
  const directory = `https://127.0.0.1:${acme}/dir`
  await eventually('Pebble answers', async () => {
    const [answer] = await once(get(directory, { ca: own.ca, headers: { 'user-agent': 'check' } }), 'response')
    answer.resume()
    return answer.statusCode === 200
  })
  return { folder, directory, ca: join(folder, 'ca.pem'), ports }
}

function startAt({ folder, directory, ca, ports }: Setting, hostnames: readonly string[]): Promise<GatewayProcess> {
  const listeners = hostnames.map(
    (hostname, index) => `
    - name: https-${index}
      protocol: HTTPS
      port: ${ports.https}
      hostname: ${hostname}
      tls: { certificateRefs: [{ name: door }] }`,
  )
  const text = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: main, annotations: { gatewright.dev/acme: "${directory}, mailto:ops@shop.test" } }
spec:
  gatewayClassName: gatewright
  listeners:
    - { name: http, protocol: HTTP, port: ${ports.http} }${listeners.join('')}
`
  writeFileSync(join(folder, 'gateway.yaml'), text)
  const stateFolder = join(folder, 'state')
  const environment = { NODE_EXTRA_CA_CERTS: ca }
  return startGatewayProcess({ files: [join(folder, 'gateway.yaml')], stateFolder, environment, workers: 1 })
}

/** Serial number and names of the certificate that a client gets. */
async function certificateFor(port: number, servername: string): Promise<{ serial: string; names: string }> {
  const socket = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false })
  try {
    await once(socket, 'secureConnect')
    const { serialNumber, subjectaltname = '' } = socket.getPeerCertificate()
    return { serial: serialNumber, names: subjectaltname }
  } finally {
    socket.destroy()
  }
}

export const checkIssue: Part = async (transcript, stops) => {
  const pebble = await startPebble(stops, 60)
  const hostnames = ['shop.test', 'www.shop.test']
  const { https } = pebble.ports
  const first = stops.use(await startAt(pebble, hostnames))
  const issued = await eventually('a certificate', () => certificateFor(https, 'shop.test'), PATIENCE_MS)
  transcript.check('one certificate is for both hosts', issued.names, 'DNS:shop.test, DNS:www.shop.test')
  transcript.check('both listeners have it', (await certificateFor(https, 'www.shop.test')).serial, issued.serial)
  let failed = 0
  const isRenewed = async () => {
    const now = await certificateFor(https, 'shop.test').catch(() => {
      failed++
    })
    return now !== undefined && now.serial !== issued.serial
  }
  await eventually('the renewal', isRenewed, PATIENCE_MS)
  transcript.check('no handshake failed during the renewal', failed, 0)
  transcript.check('no key is in the log', first.output.stderr.includes('PRIVATE'), false)
  await first.close()
  const second = stops.use(await startAt(pebble, hostnames))
  const found = await certificateFor(https, 'shop.test')
  transcript.check('the certificate is there at once after a restart', found.names, issued.names)
  await second.close()
}

export const checkFailure: Part = async (transcript, stops) => {
  const pebble = await startPebble(stops, 3600)
  const gateway = stops.use(await startAt(pebble, [BLOCKED]))
  await eventually('the finding', () => gateway.output.stderr.includes('certificate-not-issued'), PATIENCE_MS)
  const [line = ''] = gateway.output.stderr.split('\n').filter((text) => text.includes('certificate-not-issued'))
  transcript.check(
    'the finding has the words of Pebble',
    line.includes('urn:ietf:params:acme:error:rejectedIdentifier'),
    true,
  )
}
