import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RawServer } from '#net/testing/raw-peers.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { PassingTime } from '#test/support/passing-time.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const _ROOT = join(import.meta.dirname, '..', '..')
const CONNECTIONS = 'gatewright.dev/max-connections'
const WAITING = 'gatewright.dev/max-waiting-requests'

const stops = new AsyncDisposableStack()
const time = stops.use(new PassingTime())
let gateway: TestGateway
let silent: RawServer
let port: number
let folder: string

const annotated = (yaml: string, annotations: Readonly<Record<string, string>>) =>
  yaml.replace(/metadata: \{ name: (\S+) \}/, `metadata: { name: $1, annotations: ${JSON.stringify(annotations)} }`)

beforeAll(async () => {
  silent = await new RawServer(() => {}).start()
  stops.defer(() => silent.close())
  port = await freePort()
  const { path, remove } = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      annotated(backendYaml('silent', silent.port), { [CONNECTIONS]: '2', [WAITING]: '1' }),
      routeYaml('silent', '/silent', 'silent'),
      policyYaml('soon', 'ProxyBackend', 'silent', { backend: { tcp: { connectTimeout: '1s' } } }),
      annotated(backendYaml('odd', silent.port), { [CONNECTIONS]: 'many' }),
      routeYaml('odd', '/odd', 'odd'),
    ),
  })
  stops.defer(remove)
  folder = path
  gateway = stops.use(await startGateway({ files: [path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

test('a backend that does not answer takes no more connections and waiting requests than it may', async () => {
  const ask = (what: string, signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/silent/${what}`, { method: 'POST', body: 'x', ...(signal && { signal }) })
  const giveUp = new AbortController()
  const hanging = ['one', 'two'].map((what) => ask(what, giveUp.signal).catch((error: Error) => error.name))
  await eventually('both are under way', () => (silent.connections === 2 ? true : undefined))
  const more = [1, 2, 3].map(async () => {
    const response = await ask('more')
    return `${response.status} ${await response.text()}`
  })
  const answers = await time.hurry(Promise.all(more))
  const bound =
    'all connections are busy, and the limit of queued requests (1) is reached (annotation gatewright.dev/max-waiting-requests)'
  const overloaded = `503 upstream overloaded: ${bound}`
  expect(answers.sort()).toEqual([overloaded, overloaded, '504 upstream call timeout'])
  expect(silent.connections).toBe(2)
  giveUp.abort()
  expect(await Promise.all(hanging)).toEqual(['AbortError', 'AbortError'])

  const line = (code: string) =>
    eventually(`a line with code ${code}`, () =>
      gateway.output.stdout.split('\n').find((text) => text.includes(`/silent/more `) && text.includes(`code=${code}`)),
    )
  expect(await line('upstream-overloaded')).toContain('upstream.failure=too-many-waiting')
  expect(await line('upstream-timeout')).toContain('upstream.failure=wait-timeout')
  const metrics = await (await fetch(`${gateway.url(15_020)}/metrics`)).text()
  expect(metrics).toMatch(/upstream_failures_total\{backend="default\/silent",failure="too-many-waiting",.*\} [1-9]/)
  expect(metrics).toMatch(/upstream_failures_total\{backend="default\/silent",failure="wait-timeout",.*\} [1-9]/)
})

test('explain shows the bounds of a backend, and lint an invalid bound', async () => {
  const { stdout } = await gatewright(['explain', '-f', folder, `http://127.0.0.1:${port}/silent`])
  expect(stdout).toContain(
    `    > 127.0.0.1:${silent.port}\n      at most 2 connections and 1 queued requests in each worker\n`,
  )
  const lint = await gatewright(['lint', '-f', folder])
  expect(`${lint.stdout}${lint.stderr}`).toContain(
    'metadata.annotations[gatewright.dev/max-connections]: ProxyBackend default/odd: must be a whole number from 1 to 1000000; the default applies [annotation-value]',
  )
})
