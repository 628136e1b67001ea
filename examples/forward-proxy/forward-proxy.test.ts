import { execFile } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { copyWithPorts } from '../quickstart/copy-with-ports.ts'
import { type Echo, startEcho } from '../upstreams/echo.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CREDENTIAL = `Basic ${btoa('carts:carts-password')}`

/** Asks a proxy server for a URL, as `curl --proxy` does. */
function ask(port: number, url: string, credential?: string): Promise<[status: number, text: string]> {
  const headers = {
    host: new URL(url).host,
    ...(credential === undefined ? {} : { 'proxy-authorization': credential }),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: url, headers, agent: false }, async (response) => {
      resolve([response.statusCode!, await text(response)])
    })
    sent.on('error', reject)
    sent.end()
  })
}

function connectTls(port: number, servername: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = tls.connect({ host: '127.0.0.1', port, servername }, () => resolve('connected'))
    socket.on('error', () => resolve('refused'))
  })
}

/** The example with free ports, in a running gateway. */
async function startExample(stops: AsyncDisposableStack, ...words: readonly string[]) {
  const ports = { http: await freePort(), tls: await freePort() }
  const renamed = new Map([
    [18_445, ports.http],
    [18_446, ports.tls],
  ])
  const objects = await copyWithPorts(import.meta.dirname, renamed)
  stops.defer(objects.remove)
  return { ports, gateway: stops.use(await startGateway({ files: [objects.folder], workers: 1, arguments: words })) }
}

test('users reach the servers that have a route, and nothing else', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const { ports, gateway } = await startExample(stops, '--allow-forward-to', '127.0.0.1')
  const url = `http://localhost:${echo.port}/hello`

  const [status, answer] = await ask(ports.http, url, CREDENTIAL)
  const { path, headers } = JSON.parse(answer) as Echo
  expect([status, path, headers['proxy-authorization']]).toEqual([200, '/hello', undefined])
  expect(await ask(ports.http, url)).toEqual([407, 'authentication required'])
  expect(await ask(ports.http, url, `Basic ${btoa('carts:wrong')}`)).toEqual([407, 'authentication failed'])
  expect(await ask(ports.http, 'http://other.test/', CREDENTIAL)).toEqual([404, 'route not found'])
  expect(await ask(ports.http, `http://localhost:${ports.http}/`, CREDENTIAL)).toEqual([403, 'destination not allowed'])
  expect(await connectTls(ports.tls, 'other.test')).toBe('refused')
  expect(await (await fetch(`${gateway.url(15_000)}/status`)).text()).not.toContain('open-forward-proxy')
})

test('servers on the machine of the gateway need a permission', async () => {
  await using stops = new AsyncDisposableStack()
  const { ports } = await startExample(stops)
  const url = `http://localhost:${await freePort()}/`
  expect(await ask(ports.http, url, CREDENTIAL)).toEqual([403, 'destination not allowed'])
})

test('explain shows the destination of a TLS connection', async () => {
  const words = ['explain', '-f', import.meta.dirname, 'tls://www.example.com:18446']
  const { stdout } = await promisify(execFile)(join(ROOT, 'bin', 'gatewright'), words)
  expect(stdout).toContain('relayed   TLS unchanged, to www.example.com:443\n')
})
