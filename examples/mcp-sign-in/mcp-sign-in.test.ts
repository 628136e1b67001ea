import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openBrowser } from '#test/support/agreeing-browser.ts'
import { gatewright } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder } from '#test/support/objects-folder.ts'
import { startWeather } from '../upstreams/mcp.ts'
import { startOAuthIssuer } from '../upstreams/oauth-issuer.ts'

const FILE = join(import.meta.dirname, 'gateway.yaml')

test('the objects have no problem', async () => {
  expect(await gatewright(['lint', FILE, '--fail-on', 'warnings'])).toMatchObject({
    code: 0,
    stdout: '5 objects: nothing to report\n',
  })
})

test('a client signs in and lists the tools, as the README says', async () => {
  await using stops = new AsyncDisposableStack()
  const issuer = stops.use(await startOAuthIssuer())
  const weather = await startWeather({ port: 0 })
  stops.defer(() => weather.close())
  const port = await freePort()
  const ports: Readonly<Record<string, number>> = { 8080: port, 9501: issuer.port, 9121: weather.port }
  const text = readFileSync(FILE, 'utf8').replace(/\b(8080|9501|9121)\b/g, (usual) => String(ports[usual]))
  const folder = await createObjectsFolder({ 'gateway.yaml': text })
  stops.defer(() => folder.remove())
  stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  using _ = openBrowser(issuer)
  const { code, stdout } = await gatewright(['mcp', 'doctor', `http://localhost:${port}/mcp`, '--timeout', '10'])
  expect([code, stdout]).toEqual([0, expect.not.stringMatching(/^(FAIL|note)/m)])
  expect(stdout).toMatch(/^ok +tools, with a session +2025-11-25, 2 tools$/m)
})
