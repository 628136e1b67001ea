import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { copyWithPorts } from '../quickstart/copy-with-ports.ts'
import { type Echo, startEcho } from '../upstreams/echo.ts'
import { issueToken } from './issue-token.ts'

test('who has a token may read, and only clerks may write', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const ports = new Map([
    [18_445, port],
    [9405, echo.port],
  ])
  const objects = await copyWithPorts(import.meta.dirname, ports)
  stops.defer(objects.remove)
  const issuer = await mkdtemp(join(tmpdir(), 'gatewright-issuer-'))
  stops.defer(() => rm(issuer, { recursive: true }))
  const ann = await issueToken({ sub: 'ann', role: 'clerk' }, issuer)
  const bob = await issueToken({ sub: 'bob', role: 'guest' }, issuer)
  stops.use(await startGateway({ files: [objects.folder, join(issuer, 'policy.yaml')], workers: 1 }))

  const ask = (method: string, token?: string) =>
    fetch(`http://127.0.0.1:${port}/orders`, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    })
  expect((await ask('GET')).status).toBe(401)
  expect((await ask('POST', bob)).status).toBe(403)
  expect((await ask('POST', ann)).status).toBe(200)
  const { headers } = (await (await ask('GET', bob)).json()) as Echo
  expect(headers).toMatchObject({ 'x-user': 'bob' })
  expect(headers).not.toHaveProperty('authorization')
})
