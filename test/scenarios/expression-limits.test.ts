import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Ended after 1.6 s when steps were those of loops alone. */
const COSTLY = 'json(request.body).exists(x, json(request.body).exists(y, x + y < 0))'
const BODY = `[${'7,'.repeat(19_500)}7]`

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let port: number

beforeAll(async () => {
  const web = createServer((incoming, response) => incoming.resume().on('end', () => response.end('served')))
  stops.defer(() => void web.close())
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  port = await freePort()
  const deny = { action: 'Deny', policy: { matchExpressions: [COSTLY] } }
  const policies = {
    deny: { authorization: deny },
    header: { transformation: { request: { set: [{ name: 'x-a', value: `string(${COSTLY})` }] } } },
    fails: { transformation: { request: { body: 'json(request.body).card' } } },
    small: { authorization: { action: 'Deny', policy: { matchExpressions: ['json(request.body)[0] == 8'] } } },
  }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('web', (web.address() as AddressInfo).port),
      ...Object.entries(policies).flatMap(([name, traffic]) => [
        routeYaml(name, `/${name}`, 'web'),
        policyYaml(name, 'HTTPRoute', name, { traffic }),
      ]),
    ),
  })
  stops.defer(folder.remove)
  gateway = stops.use(
    await startGateway({ files: [folder.path], workers: 1, environment: { GATEWRIGHT_LOG_FORMAT: 'json' } }),
  )
})

afterAll(() => stops.disposeAsync())

async function post(path: string) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body: BODY })
  return { status: response.status, text: await response.text(), decision: response.headers.get('gatewright-decision') }
}

async function recordOf(decision: string | null): Promise<unknown> {
  const response = await fetch(`${gateway.url(15000)}/decisions?limit=50`)
  const records = (await response.json()) as readonly { readonly id: string }[]
  return records.find(({ id }) => id === decision)
}

test('an expression that a body does not reach its limit with decides', async () => {
  expect(await post('/small')).toMatchObject({ status: 200, text: 'served' })
})

test.each([
  ['/deny', 403, 'authorization failed', 'authorization-exceeded', 'ExpressionLimit', 'takes too many steps'],
  [
    '/header',
    500,
    'expression limit exceeded',
    'expression-exceeded-request',
    'ExpressionLimit',
    'takes too many steps',
  ],
  ['/fails', 500, 'transformation failed', 'transformation-request-failed', 'Internal', 'list has no members'],
])('%s: %i %s; log and record say %s and why', async (path, status, text, code, reason, cause) => {
  const answer = await post(path)
  expect(answer).toMatchObject({ status, text })
  const source = new RegExp(
    `^spec\\.traffic\\..* of ProxyPolicy default${path} .*${cause} \\(column \\d+\\)\\n.*\\n *\\^$`,
  )
  expect(await recordOf(answer.decision)).toMatchObject({ code, reason, detail: expect.stringMatching(source) })
  await eventually('a line in the log', () =>
    expect(gateway.output.stdout).toContain(`"decision":"${answer.decision}"`),
  )
  const line = gateway.output.stdout.split('\n').find((one) => one.includes(`"${answer.decision}"`))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    code,
    reason,
    error: expect.stringContaining(`${cause} (column `),
  })
})
