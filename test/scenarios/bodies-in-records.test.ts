import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { DescribedRecord } from '#admin/describe-record.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

const SECRET = 'hunter22-of-the-shop'
const secretYaml = `
apiVersion: v1
kind: Secret
metadata: { name: shop }
stringData: { password: ${SECRET} }
`

const guardedYaml = (port: number) => {
  const request = [{ regex: { matches: ['k-[0-9]+'] } }, { regex: { action: 'Reject', matches: ['forbidden'] } }]
  const ai = { provider: { providerOne: {}, host: '127.0.0.1', port } }
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: guarded }
spec: ${JSON.stringify({ ai, policies: { ai: { promptGuard: { request } } } })}
`
}

async function startShop(words: readonly string[]) {
  const stops = new AsyncDisposableStack()
  const upstream = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      response.write('the answer ')
      response.end('x'.repeat(100))
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  stops.defer(() => {
    upstream.closeAllConnections()
    upstream.close()
  })
  const port = await freePort()
  const { port: to } = upstream.address() as AddressInfo
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('shop', to),
      routeYaml('shop', '/shop', 'shop'),
      guardedYaml(to),
      routeYaml('guarded', '/guarded', 'guarded'),
      secretYaml,
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1, arguments: words }))
  /** The record of a request with this body. */
  const send = async (path: string, body: string | Uint8Array<ArrayBuffer>) => {
    await (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })).text()
    return eventually('its record', async () => {
      const [record] = (await (await fetch(`${gateway.url(15_000)}/decisions`)).json()) as DescribedRecord[]
      return record?.target === path ? record : undefined
    })
  }
  const why = async ({ id }: DescribedRecord) => (await gatewright(['why', id, '--admin', gateway.url(15_000)])).stdout
  return { stops, send, why }
}

test('records have the beginning of bodies if the gateway is told so, without its secrets', async () => {
  const { stops, send, why } = await startShop(['--record-bodies', '40'])
  await using _ = stops
  expect(await send('/shop/a', `{"prompt":"${SECRET}"}`)).toMatchObject({
    requestBody: { text: '{"prompt":"<redacted>"}', isComplete: true },
    responseBody: { text: `the answer ${'x'.repeat(29)}`, isComplete: false },
  })
  const binary = await send('/shop/b', Uint8Array.of(0xff, 0xfe, 0x80))
  expect(binary.requestBody).toEqual({ isComplete: false })
  expect(await why(binary)).toContain(
    `\nrequest body: no text\n\nresponse body, its beginning\n  the answer ${'x'.repeat(29)}\n`,
  )
  const lines = await send('/shop/l', 'first\r\n\u001b[2Jsecond')
  expect(await why(lines)).toContain('\nrequest body\n  first\n  \\u001b[2Jsecond\n')
  expect(await send('/shop/c', '')).not.toHaveProperty('requestBody')
  expect(await send('/none', 'refused')).not.toHaveProperty('responseBody.isComplete', false)
})

test('of a backend with prompt guards they have what these let pass', async () => {
  const { stops, send } = await startShop(['--record-bodies', '1024'])
  await using _ = stops
  const chat = (content: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] })
  expect(await send('/guarded/a', chat('my code is k-12'))).toMatchObject({
    requestBody: { text: chat('my code is <masked>'), isComplete: true },
  })
  for (const [path, body] of [
    ['/guarded/b', chat('forbidden')],
    ['/guarded/c', 'forbidden'],
  ] as const) {
    expect(await send(path, body)).not.toHaveProperty('requestBody')
  }
})

test('otherwise they have none', async () => {
  const { stops, send } = await startShop([])
  await using _ = stops
  const record = await send('/shop/a', 'hello')
  expect(record).not.toHaveProperty('requestBody')
  expect(record).not.toHaveProperty('responseBody')
})

for (const size of ['0', '17Ki', 'all']) {
  test(`--record-bodies ${size} is refused`, async () => {
    const folder = await createObjectsFolder({ 'gateway.yaml': gatewayYaml(await freePort()) })
    const { code, stderr } = await gatewright(['run', '-f', folder.path, '--record-bodies', size])
    await folder.remove()
    expect([code, stderr]).toEqual([
      2,
      `gatewright: the size of recorded bodies is ${size}; it must be a size up to 16Ki, such as 4Ki\n`,
    ])
  })
}
