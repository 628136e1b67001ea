import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Echo, startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  joinYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

/** Basic authentication in a running gateway, whose workers check slow hashes in other threads. */

const HASHES = {
  apr1: '$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/',
  bcrypt: '$2y$05$c4WoMPo3SXsafkva.HHa6uXQZWr7oboPiC2bT/r7q1BB8I2s0BRqC',
  crypt: 'rqXexS6ZhobKA',
  sha: '{SHA}VBPuJHI7uixaa6LQGWx4s+5GKNE=',
}
/** Takes a few hundred milliseconds. */
const EXPENSIVE = HASHES.bcrypt.replace('05', '12')

const stops = new AsyncDisposableStack()
let gateway: TestGateway
let folder: ObjectsFolder
let port: number

const secretYaml = (lines: readonly string[]) => `
apiVersion: v1
kind: Secret
metadata: { name: staff }
stringData: { .htaccess: ${JSON.stringify(lines.join('\n'))} }
`
const authentication = (spec: object) => ({
  traffic: {
    basicAuthentication: spec,
    transformation: { request: { set: [{ name: 'x-user', value: 'basicAuth.username' }] } },
  },
})

beforeAll(async () => {
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  port = await freePort()
  folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('open', '/open', 'echo'),
      routeYaml('staff', '/staff', 'echo'),
      policyYaml('staff', 'HTTPRoute', 'staff', authentication({ realm: 'Staff', secretRef: { name: 'staff' } })),
      routeYaml('slow', '/slow', 'echo'),
      policyYaml('slow', 'HTTPRoute', 'slow', authentication({ users: [`ann:${EXPENSIVE}`] })),
    ),
    'secret.yaml': secretYaml([...Object.entries(HASHES).map(([name, hash]) => `${name}:${hash}`), 'bad:hunter2']),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 1 }))
})

afterAll(() => stops.disposeAsync())

const ask = (path: string, credential?: string) =>
  fetch(`http://127.0.0.1:${port}${path}`, {
    headers: credential === undefined ? {} : { authorization: `Basic ${btoa(credential)}` },
  })

test.each(Object.keys(HASHES))('a user with a hash of format %s', async (name) => {
  const response = await ask('/staff', `${name}:myPassword`)
  const { headers } = (await response.json()) as Echo
  expect([response.status, headers['x-user'], headers.authorization]).toEqual([200, name, undefined])
  expect((await ask('/staff', `${name}:!myPassword`)).status).toBe(401)
})

test.each([
  [undefined, 'authentication required'],
  ['apr1:wrong', 'authentication failed'],
  ['nobody:myPassword', 'authentication failed'],
  ['bad:hunter2', 'authentication failed'],
])('the credential %s', async (credential, body) => {
  const response = await ask('/staff', credential)
  expect([response.status, response.headers.get('www-authenticate'), await response.text()]).toEqual([
    401,
    'Basic realm="Staff"',
    body,
  ])
})

test('the status names the line that cannot be used, and not its password', async () => {
  const status = await (await fetch(`${gateway.url(15_000)}/status`)).text()
  expect(status).toContain('htpasswd-line-invalid')
  expect(status).toContain('line 5: user')
  expect(status).not.toContain('hunter2')
})

test('requests of other clients do not wait for slow hashes', async () => {
  const checked: string[] = []
  const checks = ['a', 'b', 'c'].map(async (password) => {
    const { status } = await ask('/slow', `ann:${password}`)
    checked.push(`${status}`)
  })
  for (let i = 0; i < 20; i++) expect((await ask('/open')).status).toBe(200)
  expect(checked.length).toBeLessThan(3)
  await Promise.all(checks)
  for (const status of checked) expect(['401', '503']).toContain(status)
})

test('a user who is removed is refused at once, although the password was right before', async () => {
  expect((await ask('/staff', 'bcrypt:myPassword')).status).toBe(200)
  await folder.write('secret.yaml', secretYaml([`apr1:${HASHES.apr1}`]))
  await eventually('the new list is in force', async () => (await ask('/staff', 'bcrypt:myPassword')).status === 401)
  expect((await ask('/staff', 'apr1:myPassword')).status).toBe(200)
})

// Last: without the end of its thread, a worker would be cut off after the 60 s of `shutdown.max`.
test('a gateway that has checked passwords stops', async () => {
  expect(await gateway.close()).toBe(0)
})
