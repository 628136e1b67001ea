import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { DescribedRecord } from '#admin/describe-record.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'

test('paths of other interfaces are reported without routes, and refused with routes', async () => {
  await using stops = new AsyncDisposableStack()
  const paths: string[] = []
  const provider = createServer((request, response) => {
    paths.push(request.url!)
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'))
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  stops.defer(() => void provider.close())
  const port = await freePort()
  const ai = (name: string, more: string, kind = 'providerOne') => `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: ${name} }
spec:
  ai: { provider: { ${kind}: {}, host: 127.0.0.1, port: ${(provider.address() as AddressInfo).port} } }
  ${more}
`
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      ai('unset', ''),
      ai('set', 'policies: { ai: { routes: { /chat/completions: Completions } } }'),
      ai('messages', '', 'providerFour'),
      routeYaml('unset', '/unset', 'unset'),
      routeYaml('messages', '/messages-unset', 'messages'),
      routeYaml('set', '/set', 'set'),
    ),
  })
  stops.defer(folder.remove)
  const gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
  const ask = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: '{"model":"m"}' })
    return [response.status, await response.json()]
  }

  expect(await ask('/unset/v1/images/generations')).toEqual([200, {}])
  expect(paths).toEqual(['/v1/chat/completions'])
  await eventually('it is reported', () => gateway.output.stderr.includes('code=llm-path-not-completions'))
  expect(gateway.output.stderr).toContain('requests for paths that end in /images/generations are handled, and counted')

  expect((await ask('/unset/v1/messages'))[0]).toBe(200)
  await ask('/unset/v1/messages')
  const reports = () => gateway.output.stderr.split('\n').filter((line) => line.includes('llm-path-not-completions'))
  await eventually('each path is reported', () => reports().some((line) => line.includes('end in /messages are')))
  expect(reports()).toHaveLength(2)

  // A request that only another type could carry is refused, and the record says why.
  expect((await ask('/messages-unset/v1/responses'))[0]).toBe(400)
  await eventually('the refused path is reported', () => reports().length === 3)
  const records = (await (await fetch(`${gateway.url(15_000)}/decisions`)).json()) as DescribedRecord[]
  const misread = records.map(({ target, misread: found }) => [target, found])
  expect(misread).toContainEqual(['/messages-unset/v1/responses', { end: '/responses', type: 'Responses' }])
  expect(misread).toContainEqual(['/unset/v1/messages', { end: '/messages', type: 'Messages' }])

  expect(await ask('/set/v1/images/generations')).toEqual([
    404,
    {
      error: {
        message: 'no route type for this path',
        type: 'invalid_request_error',
        param: null,
        code: 'llm-route-unknown',
      },
    },
  ])
  expect((await ask('/set/v1/chat/completions'))[0]).toBe(200)
  const headers = { connection: 'upgrade', upgrade: 'websocket' }
  const handshake = get({ host: '127.0.0.1', port, path: '/set/v1/chat/completions', headers })
  const [refusal] = (await once(handshake, 'response')) as [IncomingMessage]
  expect([refusal.headers.connection, refusal.headers.upgrade]).toEqual(['upgrade', 'HTTP/1.1'])
  expect([refusal.statusCode, JSON.parse(await text(refusal)).error.code]).toEqual([426, 'llm-websocket-unsupported'])
  expect(paths).toEqual(Array(4).fill('/v1/chat/completions'))
})
