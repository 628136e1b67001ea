import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { afterEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Finding } from '#base/finding.ts'
import { ResourceTable } from '#store/resources/resource-table.ts'
import { eventually } from '#test/support/eventually.ts'
import { type ApiService, startApiService } from './api-service.ts'

let service: ApiService | undefined
afterEach(async () => {
  await service?.close()
  service = undefined
})

const ORIGIN = { kind: 'ProxyBackend', namespace: 'default', name: 'b' }

test('clients with the kubeconfig get findings as warnings, and each write is logged', async () => {
  const texts = new Map<string, string>()
  const lines: unknown[] = []
  const table = new ResourceTable()
  const metadata = { name: 'default', uid: 'n', resourceVersion: '', creationTimestamp: '' }
  const key = { collection: 'namespaces', namespace: '', name: 'default' }
  table.commit([{ key, object: { apiVersion: 'v1', kind: 'Namespace', metadata } }])
  const findings: Finding[] = [
    { origin: ORIGIN, path: 'spec.static', code: 'no-effect', message: 'does nothing', severity: 'warning' },
    { origin: ORIGIN, path: '', code: 'no-effect', message: 'only advice', severity: 'advice' },
    { origin: { ...ORIGIN, name: 'other' }, path: '', code: 'no-effect', message: 'of another', severity: 'error' },
  ]
  service = await startApiService({
    host: '127.0.0.1',
    port: 0,
    table,
    fileOf: () => undefined,
    findings: () => findings,
    files: { read: () => undefined, write: (name, text) => void texts.set(name, text) },
    version: '0.0.0',
    log: (...line) => lines.push(line),
    reportBug: (error) => lines.push(error),
  })
  const { clusters, users } = parse(texts.get('kubeconfig')!)
  expect(clusters[0].cluster.server).toBe(service.url)
  const body = JSON.stringify({ metadata: { name: 'b' }, spec: { static: { host: 'a.test', port: 80 } } })
  const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString()
  const post = (path: string, token: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'user-agent': 'test' }
      const call = request(`${service!.url}${path}`, { method: 'POST', ca, headers, agent: false }, (answer) => {
        answer.resume()
        resolve(answer)
      })
      call.once('error', reject)
      call.end(body)
    })
  const response = await post('/apis/gatewright.dev/v1alpha1/namespaces/default/proxybackends', users[0].user.token)
  expect([response.statusCode, response.headers.warning]).toEqual([
    201,
    '299 - "spec.static: does nothing [no-effect]"',
  ])
  await eventually('the write is logged', () => lines.length > 0)
  expect(lines).toEqual([
    [
      'info',
      'object written',
      expect.objectContaining({
        method: 'POST',
        name: 'b',
        target: 'proxybackends.gatewright.dev',
        client: 'test',
        status: 201,
      }),
    ],
  ])
  const long = 'x'.repeat(100_000)
  expect((await post(`/api/v1/namespaces/${long}/${long}/${long}`, 'wrong')).statusCode).toBe(401)
  await eventually('the refusal is logged', () => lines.length > 1)
  const cut = long.slice(0, 512)
  expect(lines[1]).toEqual([
    'warn',
    'write refused',
    expect.objectContaining({ target: cut, namespace: cut, name: cut, status: 401 }),
  ])
})
