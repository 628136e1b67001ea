import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReadinessServer } from './readiness-server.ts'
import type { RunningServer } from './small-server.ts'
import { ask, failOnBug } from './testing.ts'

let reasons: string[] = []
let server: RunningServer
beforeAll(async () => {
  server = await startReadinessServer({ host: '127.0.0.1', port: 0, whyNotReady: () => reasons, reportBug: failOnBug })
})
afterAll(() => server.close())

const answers = [
  // method  path               reasons               status  body
  ['GET', '/healthz/ready', [], 200, 'ready\n'],
  ['GET', '/healthz/ready?from=balancer', [], 200, 'ready\n'],
  ['GET', '/healthz/ready', ['a', 'b'], 503, 'not ready: a; b\n'],
  ['HEAD', '/healthz/ready', [], 200, ''],
  ['HEAD', '/healthz/ready', ['draining'], 503, ''],
  ['GET', '/healthz/live', ['a'], 200, 'live\n'],
  ['POST', '/healthz/ready', [], 405, 'method not allowed\n'],
  ['GET', '/healthz', [], 404, 'not found\n'],
  ['GET', '/toString', [], 404, 'not found\n'],
] as const

for (const [method, path, waiting, status, body] of answers) {
  test(`${method} ${path} with ${waiting.length === 0 ? 'nothing' : waiting.join(', ')} missing`, async () => {
    reasons = [...waiting]
    expect(await ask(server.port, path, { method })).toMatchObject({ status, body })
  })
}

test('a balancer may call it by any name', async () => {
  reasons = []
  expect((await ask(server.port, '/healthz/ready', { headers: { host: 'gateway.example.com' } })).status).toBe(200)
})

test('/ says what the port is for, also while the gateway is not ready', async () => {
  reasons = ['draining']
  const { status, body } = await ask(server.port, '/')
  expect(status).toBe(200)
  expect(body).toContain('This port of the gateway tells load balancers whether it is ready. It carries no traffic.')
  for (const path of ['/healthz/ready', '/healthz/live']) expect(body).toContain(`<a href="${path}">`)
})
