import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { freePort } from '../../support/free-port.ts'
import { backendYaml, joinYaml, routeYaml } from '../../support/objects-folder.ts'
import { policyYaml } from '../../support/policy-yaml.ts'
import { authoritiesYaml } from '../../support/tls-objects.ts'
import { installedProgram } from '../counterparts.ts'
import { type Front, proxyBackend, startFront } from '../front.ts'
import type { Transcript } from '../transcript.ts'
import { Authority } from './authority.ts'
import { answerOf, backendAt, statusesOf } from './backend-at.ts'
import { partFolder, startNginx, startSquid, startTinyproxy } from './proxy-software.ts'

const PASSWORD = 'hunter2'
/** The credential of a proxy server: user and password in Base64, after the prefix `Basic`. */
const basic = (password: string) => ({
  auth: {
    key: `Basic ${Buffer.from(`gateway:${password}`).toString('base64')}`,
    location: { header: { name: 'Authorization', prefix: 'Basic' } },
  },
})
const TLS = { caCertificateRefs: [{ name: 'trusted' }], sni: 'server.test' }

/** squid and tinyproxy between the gateway and its backends. */
export async function checkTunnels(transcript: Transcript, stops: AsyncDisposableStack): Promise<void> {
  const htpasswd = installedProgram('openssl', 'openssl')
  const folder = partFolder(stops)
  const root = Authority.root(folder, 'root')
  const server = root.issue('server', { names: 'DNS:server.test,DNS:proxy.test' })
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const secured = await freePort()
  const forbidden = await freePort()
  const nginx = ['http2', ''].map((version, i) => {
    const tls = `ssl_certificate ${server.cert}; ssl_certificate_key ${server.key};`
    return `server { listen 127.0.0.1:${i === 0 ? secured : forbidden} ssl ${version}; ${tls} client_max_body_size 10m;
      location ~ /facts$ { return 200 $server_protocol; }
      location / { proxy_pass http://127.0.0.1:${echo.port}; proxy_http_version 1.1; } }`
  })
  await startNginx(stops, { folder, ports: [secured, forbidden] }, nginx.join('\n'))

  const ports = { squid: await freePort(), 'secure-squid': await freePort(), tinyproxy: await freePort() }
  const users = join(folder, 'users')
  const hash = execFileSync(htpasswd, ['passwd', '-apr1', PASSWORD], { encoding: 'utf8' }).trim()
  writeFileSync(users, `gateway:${hash}\n`)
  const hosts = join(folder, 'hosts')
  writeFileSync(hosts, '127.0.0.1 inner.test\n')
  const log = join(folder, 'squid', 'access.log')
  const key = join(folder, 'squid.key')
  writeFileSync(key, readFileSync(server.key))
  const squid = await startSquid(stops, { folder, ports: [ports.squid, ports['secure-squid']] }, [
    `http_port 127.0.0.1:${ports.squid}`,
    `https_port 127.0.0.1:${ports['secure-squid']} tls-cert=${server.cert} tls-key=${key}`,
    `hosts_file ${hosts}`,
    'logformat seen %rm %ru %un %>Hs',
    `access_log stdio:${log} seen`,
    `auth_param basic program ${squidHelper('basic_ncsa_auth')} ${users}`,
    'auth_param basic realm proxy',
    `acl forbidden port ${forbidden}`,
    'acl known proxy_auth REQUIRED',
    'http_access deny forbidden',
    'http_access allow known',
    'http_access deny all',
  ])
  await startTinyproxy(stops, { folder, ports: [ports.tinyproxy] }, [
    'Allow 127.0.0.1',
    `BasicAuth gateway ${PASSWORD}`,
    `ConnectPort ${secured}`,
    'MaxClients 100',
    'Timeout 60',
    `LogFile "${folder}/tinyproxy.log"`,
    'LogLevel Connect',
  ])
  const kinds = Object.entries(ports).map(([kind, port]) => ({
    kind,
    // tinyproxy asks the resolver of the system.
    host: kind === 'tinyproxy' ? 'localhost' : 'inner.test',
    port,
    more: kind === 'secure-squid' ? { tls: { ...TLS, sni: 'proxy.test' } } : {},
  }))
  const front = await startFront(
    stops,
    authoritiesYaml('trusted', root.pem),
    ...kinds.flatMap(({ kind, host, port, more }) => [
      proxyYaml(kind, port, { ...more, ...basic(PASSWORD) }),
      proxyYaml(`${kind}-wrong`, port, { ...more, ...basic('wrong') }),
      proxyYaml(`${kind}-none`, port, more),
      tunnelledYaml(`${kind}-plain`, host, echo.port, kind),
      tunnelledYaml(`${kind}-tls`, host, secured, kind, { tls: TLS }),
      tunnelledYaml(`${kind}-forbidden`, host, forbidden, kind, { tls: TLS }),
      tunnelledYaml(`${kind}-unknown`, 'unknown.invalid', secured, kind, { tls: TLS }),
      ...['wrong', 'none'].flatMap((credential) => [
        tunnelledYaml(`${kind}-plain-${credential}`, host, echo.port, `${kind}-${credential}`),
        tunnelledYaml(`${kind}-tls-${credential}`, host, secured, `${kind}-${credential}`, { tls: TLS }),
      ]),
    ]),
    backendAt('direct', echo.port, {}),
  )

  const large = 'x'.repeat(1_000_000)
  for (const { kind, host } of kinds) {
    const plain = await front.ask(`/${kind}-plain/a?b=c`)
    const { path, headers } = (await plain.json()) as Echo
    const seen = [plain.status, path, headers.host, headers['proxy-authorization']]
    transcript.check(`${kind}, absolute form: what the backend sees`, seen, [
      ...[200, `/${kind}-plain/a?b=c`, `${host}:${echo.port}`, undefined],
    ])
    const facts = await front.ask(`/${kind}-tls/facts`)
    transcript.check(`${kind}, CONNECT: HTTP/2 over TLS`, [facts.status, await facts.text()], [200, 'HTTP/2.0'])
    const tunnelled = (await (await front.ask(`/${kind}-tls/a`)).json()) as Echo
    transcript.check(`${kind}, CONNECT: no credential`, tunnelled.headers['proxy-authorization'], undefined)
    for (const way of ['plain', 'tls']) {
      const at = `/${kind}-${way}`
      transcript.check(`${kind}, ${way}: a body of 1 MB`, (await echoed(front, at, large)) === large, true)
      transcript.check(`${kind}, ${way}: 200 requests`, await statusesOf(front, `${at}/a`, 200, 10), { 200: 200 })
      // tinyproxy answers a wrong password with 401, which only CONNECT tells from an answer of the backend.
      for (const credential of ['wrong', 'none']) {
        const expected = kind === 'tinyproxy' && credential === 'wrong' && way === 'plain' ? [401, undefined] : REFUSED
        const answer = await answerOf(front, `${at}-${credential}/a`)
        transcript.check(`${kind}, ${way}: credential ${credential}`, answer, expected)
      }
    }
    transcript.check(`${kind}, CONNECT: a forbidden port`, await answerOf(front, `/${kind}-forbidden/a`), REFUSED)
    transcript.check(`${kind}, CONNECT: an unknown name`, await answerOf(front, `/${kind}-unknown/a`), REFUSED)
  }
  transcript.check('another backend: no proxy server', (await front.ask('/direct/a')).status, 200)

  await front.gateway.close()
  await squid[Symbol.asyncDispose]()
  const lines = new Set(readFileSync(log, 'utf8').split('\n'))
  for (const line of [
    `GET http://inner.test:${echo.port}/squid-plain/a? gateway 200`,
    `CONNECT inner.test:${secured} gateway 200`,
    `CONNECT inner.test:${secured} - 407`,
    `CONNECT inner.test:${forbidden} - 403`,
  ]) {
    transcript.check(`squid writes: ${line.replace(/:\d+/, '')}`, lines.has(line), true)
  }
  transcript.check(
    'squid: nothing else in absolute form than plain requests',
    [...lines].filter((line) => line.includes('://') && !line.includes('-plain')),
    [],
  )
}

const REFUSED = [503, 'tunnel-refused']

function squidHelper(name: string): string {
  return join('/usr/lib/squid', name)
}

function proxyYaml(name: string, port: number, backend: object): string {
  const policy = Object.keys(backend).length === 0 ? [] : [policyYaml(name, 'ProxyBackend', name, { backend })]
  return joinYaml(backendYaml(name, port), ...policy)
}

/** A backend with a name that the proxy server knows, and a route to it under `/<name>`. */
function tunnelledYaml(name: string, host: string, port: number, through: string, backend: object = {}): string {
  const tunnel = { backendRef: proxyBackend(through) }
  return joinYaml(
    backendYaml(name, port).replace('127.0.0.1', host),
    policyYaml(name, 'ProxyBackend', name, { backend: { ...backend, tunnel } }),
    routeYaml(name, `/${name}`, name),
  )
}

async function echoed(front: Front, at: string, body: string): Promise<string> {
  const response = await front.ask(`${at}/echo`, { method: 'POST', body })
  const text = await response.text()
  return response.status === 200 ? (JSON.parse(text) as Echo).body : `${response.status} ${text}`
}
