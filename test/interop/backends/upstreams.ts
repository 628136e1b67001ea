import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Echo } from '#examples/upstreams/echo.ts'
import { startEcho } from '#examples/upstreams/echo.ts'
import { freePort } from '../../support/free-port.ts'
import { authoritiesYaml } from '../../support/tls-objects.ts'
import { type Front, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { Authority, chainFile } from './authority.ts'
import { answerOf, backendAt, statusesOf } from './backend-at.ts'
import { partFolder, startHaproxy, startNginx } from './proxy-software.ts'

const TLS = { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' }
const FILE = `${'All work and no play makes Jack a dull boy.\n'.repeat(2000)}`

/** The ports of each server software by what they speak. */
const SPEAKS = ['plain', 'tls', 'tls12', 'h2', 'h2-goaway', 'h2-few', 'closing', 'closing-tls'] as const
type Spoken = (typeof SPEAKS)[number]
type Ports = Readonly<Record<Spoken, number>>

/** What a backend of each port has in section `backend`. */
const SETTINGS: Readonly<Record<Spoken, object>> = {
  plain: {},
  tls: { tls: { ...TLS, alpnProtocols: ['http/1.1'] } },
  tls12: { tls: TLS, http: { version: 'HTTP1' } },
  h2: { tls: TLS, http: { version: 'HTTP2' } },
  'h2-goaway': { tls: TLS, http: { version: 'HTTP2' } },
  'h2-few': { tls: TLS, http: { version: 'HTTP2' } },
  closing: {},
  'closing-tls': { tls: TLS, http: { version: 'HTTP1' } },
}

/** What each port answers under `/facts`: the protocol, the version of TLS and the server name. */
const FACTS: Readonly<Partial<Record<Spoken, string>>> = {
  plain: 'HTTP/1.1 - -',
  tls: 'HTTP/1.1 TLSv1.3 server.test',
  tls12: 'HTTP/1.1 TLSv1.2 server.test',
  h2: 'HTTP/2.0 TLSv1.3 server.test',
}

/** nginx and haproxy as servers of a backend. */
export async function checkUpstreams(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const folder = partFolder(stops)
  const root = Authority.root(folder, 'root')
  const server = root.issue('server', { names: 'DNS:server.test' })
  const files = { cert: chainFile(server), key: server.key, folder }
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const nginxPorts = await freePorts()
  const haproxyPorts = await freePorts()
  const cleartext = await freePort()
  const nginx = await startNginx(
    stops,
    { folder, ports: Object.values(nginxPorts) },
    nginxServers(nginxPorts, files, echo.port),
  )
  await startHaproxy(
    stops,
    { folder, ports: [...Object.values(haproxyPorts), cleartext] },
    haproxySections(haproxyPorts, cleartext, files, echo.port),
  )
  const backendsOf = (software: string, ports: Ports) =>
    SPEAKS.map((spoken) => backendAt(`${software}-${spoken}`, ports[spoken], SETTINGS[spoken]))
  const front = await startFront(
    stops,
    authoritiesYaml('trusted', root.pem),
    authoritiesYaml('others', Authority.root(folder, 'other').pem),
    ...backendsOf('nginx', nginxPorts),
    ...backendsOf('haproxy', haproxyPorts),
    backendAt('haproxy-h2c', cleartext, { http: { version: 'HTTP2' } }),
    backendAt('nginx-unknown', nginxPorts.tls, { tls: { ...TLS, caCertificateRefs: [{ name: 'others' }] } }),
    backendAt('haproxy-unknown', haproxyPorts.tls, { tls: { ...TLS, caCertificateRefs: [{ name: 'others' }] } }),
  )

  for (const software of ['nginx', 'haproxy']) {
    for (const [spoken, facts] of Object.entries(FACTS)) {
      const answer = await front.ask(`/${software}-${spoken}/facts`)
      transcript.check(`${software}, ${spoken}: what it sees`, [answer.status, await answer.text()], [200, facts])
    }
    const unknown = await answerOf(front, `/${software}-unknown/facts`)
    transcript.check(`${software}: an unknown authority`, unknown, [503, 'certificate-untrusted'])
    for (const spoken of ['tls', 'h2']) await checkBodies(transcript, front, software, spoken)
    for (const spoken of ['h2-goaway', 'h2-few']) {
      const path = `/${software}-${spoken}/facts`
      const what = spoken === 'h2-goaway' ? 'its connections end after a few requests' : 'two streams at a time'
      transcript.check(`${software}: ${what}`, await statusesOf(front, path, 300, 30), { 200: 300 })
    }
    for (const spoken of ['closing', 'closing-tls']) {
      const seen = await askAtIntervals(front, `/${software}-${spoken}/facts`)
      transcript.check(`${software}, ${spoken}: idle connections close while requests arrive`, seen, { 200: 200 })
    }
  }
  const seen = await front.ask('/haproxy-h2c/facts')
  transcript.check('haproxy, h2c: what it sees', await seen.text(), 'HTTP/2.0 - -')
  await checkBodies(transcript, front, 'haproxy', 'h2c')
  const hinted = await front.ask('/haproxy-h2/hint')
  transcript.check('haproxy: an early hint, then the answer', hinted.status, 200)
  for (const spoken of ['tls', 'h2']) await checkFiles(transcript, front, `/nginx-${spoken}`, spoken)
  for (const spoken of ['plain', 'h2'] as const) {
    const asking = statusesOf(front, `/nginx-${spoken}/facts`, 600, 6)
    for (let i = 0; i < 3; i++) {
      nginx.process.kill('SIGHUP')
      await sleep(100)
    }
    transcript.check(`nginx, ${spoken}: reloads under load`, await asking, { 200: 600 })
  }
}

async function freePorts(): Promise<Ports> {
  const entries: [string, number][] = []
  for (const spoken of SPEAKS) entries.push([spoken, await freePort()])
  return Object.fromEntries(entries) as Ports
}

/** Bodies in both directions, and answers that end early. */
async function checkBodies(transcript: Transcript, front: Front, software: string, spoken: string): Promise<void> {
  const at = `/${software}-${spoken}`
  const what = `${software}, ${spoken}`
  const body = 'x'.repeat(1_000_000)
  const echoed = await front.ask(`${at}/echo`, { method: 'POST', body })
  transcript.check(`${what}: a body of 1 MB, there and back`, ((await echoed.json()) as Echo).body === body, true)
  const several = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const answer = await front.ask(`${at}/echo`, { method: 'POST', body: String(i).repeat(30_000) })
      return ((await answer.json()) as Echo).body === String(i).repeat(30_000)
    }),
  )
  transcript.check(`${what}: 20 bodies at once`, new Set(several), new Set([true]))
  const head = await front.ask(`${at}/echo`, { method: 'HEAD' })
  transcript.check(`${what}: HEAD`, [head.status, await head.text()], [200, ''])
  const events = await front.ask(`${at}/echo?stream=3`)
  transcript.check(`${what}: events`, (await events.text()).match(/^data: /gm)?.length, 3)
  const empty = await front.ask(`${at}/empty`)
  transcript.check(`${what}: 204`, [empty.status, await empty.text()], [204, ''])
  // nginx resets the stream with PROTOCOL_ERROR.
  const closed = what === 'nginx, h2' ? 'protocol-error' : 'reset'
  transcript.check(`${what}: closes without an answer`, await answerOf(front, `${at}/close`), [503, closed])
  // Over HTTP/1, haproxy closes the connection with unread bytes, which may destroy its answer on the way.
  if (what !== 'haproxy, tls') {
    const early = await answerOf(front, `${at}/large`, { method: 'POST', body: 'x'.repeat(3_000_000) })
    transcript.check(`${what}: an answer before the end of the request`, early, [413, undefined])
  }
  const after = await front.ask(`${at}/facts`)
  transcript.check(`${what}: the next request`, after.status, 200)
}

/** Files as nginx serves them: compressed, in part, unchanged. */
async function checkFiles(transcript: Transcript, front: Front, at: string, spoken: string): Promise<void> {
  const whole = await front.ask(`${at}/file`, { headers: { 'accept-encoding': 'identity' } })
  transcript.check(`nginx, ${spoken}: a file`, (await whole.text()) === FILE, true)
  const zipped = await front.ask(`${at}/file`, { headers: { 'accept-encoding': 'gzip' } })
  const seen = [zipped.headers.get('content-encoding'), (await zipped.text()) === FILE]
  transcript.check(`nginx, ${spoken}: a compressed file`, seen, ['gzip', true])
  const part = await front.ask(`${at}/file`, { headers: { range: 'bytes=4-7', 'accept-encoding': 'identity' } })
  transcript.check(`nginx, ${spoken}: a range`, [part.status, await part.text()], [206, FILE.slice(4, 8)])
  const tag = whole.headers.get('etag') ?? ''
  const unchanged = await front.ask(`${at}/file`, { headers: { 'if-none-match': tag, 'accept-encoding': 'identity' } })
  transcript.check(`nginx, ${spoken}: 304`, [unchanged.status, await unchanged.text()], [304, ''])
}

/** How many requests had each status, with pauses around the time for which the server keeps connections. */
async function askAtIntervals(front: Front, path: string): Promise<Readonly<Record<number, number>>> {
  const statuses: Record<number, number> = {}
  for (let i = 0; i < 200; i++) {
    const { status } = await front.ask(path)
    statuses[status] = (statuses[status] ?? 0) + 1
    await sleep(IDLE_MS - 5 + (i % 10))
  }
  return statuses
}

const IDLE_MS = 30

interface Files {
  readonly folder: string
  readonly cert: string
  readonly key: string
}

function nginxServers(ports: Ports, { folder, cert, key }: Files, echoPort: number): string {
  writeFileSync(join(folder, 'file.txt'), FILE)
  const tls = `ssl_certificate ${cert}; ssl_certificate_key ${key}; ssl_protocols TLSv1.2 TLSv1.3;`
  const locations = `
  location ~ /echo$ { proxy_pass http://127.0.0.1:${echoPort}; proxy_http_version 1.1; proxy_buffering off; }
  location ~ /empty$ { return 204; }
  location ~ /close$ { return 444; }
  location ~ /large$ { client_max_body_size 1k; proxy_pass http://127.0.0.1:${echoPort}; }
  location ~ /file$ { default_type text/plain; alias ${folder}/file.txt; gzip on; gzip_types text/plain; gzip_proxied any; }
  location ~ /facts$ { set $a $ssl_protocol; if ($a = "") { set $a -; } set $b $ssl_server_name; if ($b = "") { set $b -; }
    return 200 "$server_protocol $a $b"; }`
  const server = (spoken: Spoken, listen: string, lines = '') =>
    `server { listen 127.0.0.1:${ports[spoken]} ${listen}; ${lines} client_max_body_size 10m; ${locations} }`
  return [
    server('plain', ''),
    server('tls', 'ssl http2', tls),
    server('tls12', 'ssl', tls.replace(' TLSv1.3', '')),
    server('h2', 'ssl http2', tls),
    server('h2-goaway', 'ssl http2', `${tls} keepalive_requests 40;`),
    server('h2-few', 'ssl http2', `${tls} http2_max_concurrent_streams 2;`),
    server('closing', '', `keepalive_timeout ${IDLE_MS}ms;`),
    server('closing-tls', 'ssl', `${tls} keepalive_timeout ${IDLE_MS}ms;`),
  ].join('\n')
}

function haproxySections(ports: Ports, cleartext: number, { cert, key, folder }: Files, echoPort: number): string {
  const pem = join(folder, 'haproxy.pem')
  writeFileSync(pem, [cert, key].map((path) => readFileSync(path)).join(''))
  const returned = (path: string, words: string) => `  http-request ${words} if { path_end ${path} }\n`
  const facts = '"HTTP/%[req.ver] %[var(txn.tls)] %[var(txn.name)]"'
  const rules = [
    '  http-request set-var(txn.tls) str(-)\n  http-request set-var(txn.tls) ssl_fc_protocol if { ssl_fc }\n',
    '  http-request set-var(txn.name) str(-)\n  http-request set-var(txn.name) ssl_fc_sni if { ssl_fc }\n',
    returned('/facts', `return status 200 content-type text/plain lf-string ${facts}`),
    returned('/empty', 'return status 204'),
    returned('/close', 'reject'),
    returned('/large', 'deny deny_status 413'),
    returned('/hint', 'early-hint Link "</a.css>; rel=preload"'),
    '  default_backend echo\n',
  ].join('')
  const frontend = (name: string, port: number, bind: string, lines = '') =>
    `frontend ${name}\n  bind 127.0.0.1:${port} ${bind}\n${lines}${rules}`
  const tls = `ssl crt ${pem}`
  return [
    frontend('plain', ports.plain, ''),
    frontend('tls', ports.tls, `${tls} alpn h2,http/1.1`),
    frontend('tls12', ports.tls12, `${tls} ssl-max-ver TLSv1.2`),
    frontend('h2', ports.h2, `${tls} alpn h2`),
    frontend(
      'h2-goaway',
      ports['h2-goaway'],
      `${tls} alpn h2`,
      '  timeout client 40ms\n  timeout http-keep-alive 20ms\n',
    ),
    frontend('h2-few', ports['h2-few'], `${tls} alpn h2`),
    frontend('closing', ports.closing, '', `  timeout http-keep-alive ${IDLE_MS}ms\n`),
    frontend('closing-tls', ports['closing-tls'], tls, `  timeout http-keep-alive ${IDLE_MS}ms\n`),
    frontend('h2c', cleartext, 'proto h2'),
    `backend echo\n  server echo 127.0.0.1:${echoPort}\n`,
  ].join('')
}
