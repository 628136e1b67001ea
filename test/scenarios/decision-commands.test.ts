import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { gatewright } from '#test/support/command-line.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { backendYaml, createObjectsFolder, gatewayYaml, joinYaml, routeYaml } from '#test/support/objects-folder.ts'
import { policyYaml } from '#test/support/policy-yaml.ts'

const GATEWRIGHT = join(import.meta.dirname, '..', '..', 'bin', 'gatewright')

interface Tail extends Disposable {
  readonly output: { stdout: string; stderr: string }
  closeOutput(): void
  /** Exit code. */
  readonly ended: Promise<number>
}

function startTail(words: readonly string[]): Tail {
  const child: ChildProcess = spawn(GATEWRIGHT, ['tail', ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.on('data', (text: Buffer) => {
      output[name] += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number)
  return { output, ended, closeOutput: () => child.stdout!.destroy(), [Symbol.dispose]: () => void child.kill() }
}

test('tail shows requests as they end, and why shows who decided about one', async () => {
  await using stops = new AsyncDisposableStack()
  const echo = await startEcho({ port: 0 })
  stops.defer(echo.close)
  const port = await freePort()
  const rules = { action: 'Deny', policy: { matchExpressions: ['request.path.endsWith("/secret")'] } }
  const folder = await createObjectsFolder({
    'all.yaml': joinYaml(
      gatewayYaml(port),
      backendYaml('echo', echo.port),
      routeYaml('shop', '/', 'echo'),
      policyYaml('no-secrets', 'HTTPRoute', 'shop', { traffic: { authorization: rules } }),
    ),
  })
  stops.defer(folder.remove)
  const gateway = await startGateway({ files: [folder.path], workers: 2 })
  stops.use(gateway)
  const admin = ['--admin', gateway.url(15_000)]
  const url = `http://127.0.0.1:${port}`

  const all = stops.use(startTail(admin))
  const refused = stops.use(startTail([...admin, '--status', '4xx', '-o', 'json']))
  const { output } = await eventually('both read', async () => {
    await fetch(`${url}/cart`)
    await fetch(`${url}/secret`)
    const isThere = all.output.stdout.includes('/secret') && refused.output.stdout.includes('/secret')
    return isThere ? refused : undefined
  })
  const [line] = output.stdout.split('\n')
  const record = JSON.parse(line!) as { id: string; status: number; target: string }
  expect(record).toMatchObject({ status: 403, target: '/secret', code: 'authorization-denied' })
  expect(output.stdout).not.toContain('/cart')
  expect(all.output.stdout).toMatch(
    new RegExp(String.raw`\d\d:\d\d:\d\d\.\d{3} 403 +[\d.]+ ms GET 127\.0\.0\.1:${port}/secret default/shop `),
  )

  const why = await gatewright(['why', record.id, ...admin])
  expect(why.code).toBe(0)
  expect(why.stdout).toContain(`GET 127.0.0.1:${port}/secret\n`)
  expect(why.stdout).toContain('result    403 authorization-denied (authorization failed)\n')
  expect(why.stdout).toMatch(
    /decided +authorization \(post-routing\)\n +ProxyPolicy default\/no-secrets \(.*all\.yaml:\d+\): spec\.traffic\.authorization\n/,
  )
  expect(why.stdout).toMatch(/route +default\/shop, rule 0\n/)
  expect(why.stdout).toMatch(
    /time line\n +0 ms received\n +[\d.]+ ms authorization \(post-routing\): refused \([\d.]+ ms\) ProxyPolicy default\/no-secrets\n +[\d.]+ ms ended with 403\n$/,
  )
  expect(why.stdout, 'no styles without a terminal').not.toContain('\u001b')

  const piped = startTail(['-o', 'json', ...admin])
  stops.use(piped)
  await eventually('it reads', async () => {
    await fetch(`${url}/piped`)
    return piped.output.stdout.includes('/piped')
  })
  piped.closeOutput()
  let pipedCode: number | undefined
  void piped.ended.then((code) => {
    pipedCode = code
  })
  await eventually('it ends without its reader', async () => {
    await fetch(`${url}/piped`)
    return pipedCode !== undefined
  })
  expect([pipedCode, piped.output.stderr]).toEqual([0, ''])

  const unknown = await gatewright(['why', 'no-such-id', ...admin])
  expect([unknown.code, unknown.stdout, unknown.stderr]).toEqual([
    1,
    '',
    'gatewright: no worker has a record of decision no-such-id; each keeps its last 1,024 decisions\n',
  ])
  const wrong = await gatewright(['tail', ...admin, '--status', 'bad'])
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    'gatewright: status must be a status, a class such as 4xx, or 0 (no response)\n',
  ])

  await gateway.close()
  const nobody = await gatewright(['why', record.id, ...admin])
  expect(nobody.stderr).toBe(
    `gatewright: no gateway responds at ${gateway.url(15_000)}/; --admin is the address of its admin server\n`,
  )

  // A running `tail` waits for a gateway that is restarted.
  const again = { GATEWRIGHT_ADMIN_ADDR: new URL(gateway.url(15_000)).host }
  stops.use(await startGateway({ files: [folder.path], workers: 1, environment: again }))
  await eventually('it shows requests of the new gateway', async () => {
    await fetch(`${url}/restarted`)
    return all.output.stdout.includes('/restarted')
  })
  expect(all.output.stderr).toBe(
    `gatewright: the gateway has closed the stream; waiting until it responds again
gatewright: the gateway responds again; requests that ended in between are not shown
`,
  )
})
