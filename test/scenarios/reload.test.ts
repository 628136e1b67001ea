import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEcho } from '#examples/upstreams/echo.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway, type TestGateway } from '#test/support/gateway.ts'
import {
  backendYaml,
  createObjectsFolder,
  gatewayYaml,
  type ObjectsFolder,
  routeYaml,
} from '#test/support/objects-folder.ts'

const stops = new AsyncDisposableStack()
let folder: ObjectsFolder
let gateway: TestGateway
let port: number

beforeAll(async () => {
  const one = await startEcho({ port: 0, name: 'one' })
  stops.defer(one.close)
  const two = await startEcho({ port: 0, name: 'two' })
  stops.defer(two.close)
  port = await freePort()
  folder = await createObjectsFolder({
    'gateway.yaml': gatewayYaml(port),
    'one.yaml': backendYaml('one', one.port),
    'two.yaml': backendYaml('two', two.port),
    'route.yaml': routeYaml('all', '/', 'one'),
  })
  stops.defer(folder.remove)
  gateway = stops.use(await startGateway({ files: [folder.path], workers: 2 }))
})

afterAll(() => stops.disposeAsync())

interface Seen {
  readonly status: number
  readonly server: string
  readonly localPort: number
}

function ask(agent: Agent | false, path = '/x'): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, agent }, (response) => {
      const localPort = response.socket.localPort ?? 0
      response.resume()
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          server: String(response.headers['x-served-by'] ?? ''),
          localPort,
        }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

/** Sees the wanted server ten times in a row on fresh connections: every worker has the change. */
function liveEverywhere(server: string): Promise<true> {
  return eventually(`${server} everywhere`, async () => {
    for (let i = 0; i < 10; i++) if ((await ask(false)).server !== server) return undefined
    return true as const
  })
}

test('a change is live in all workers, and no request and no connection is lost', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const seen: Seen[] = []
  let running = true
  const load = (async () => {
    while (running) seen.push(await ask(agent))
  })()
  for (const server of ['two', 'one', 'two', 'one', 'two']) {
    await folder.write('route.yaml', routeYaml('all', '/', server))
    await liveEverywhere(server)
  }
  running = false
  await load
  agent.destroy()
  expect(seen.filter(({ status }) => status !== 200)).toEqual([])
  expect(new Set(seen.map(({ server }) => server))).toEqual(new Set(['one', 'two']))
  expect(new Set(seen.map(({ localPort }) => localPort)).size, 'one connection served all of it').toBe(1)
})

/** Of the mistake in the file. */
const PLACE = /\terror\tproblem at=\S*route\.yaml:\d+:\d+ .*code=invalid-yaml/

test('a file that stops parsing keeps its last valid objects, and is reported in three places', async () => {
  await folder.write('route.yaml', routeYaml('all', '/', 'one'))
  await liveEverywhere('one')
  await folder.write('route.yaml', `${routeYaml('all', '/', 'two')}\n  : : not yaml`)
  await eventually('said on the terminal, with the place', () => {
    const { stderr } = gateway.output
    return (stderr.includes('its last good objects stay in force') && PLACE.test(stderr)) || undefined
  })
  expect((await ask(false)).server).toBe('one')

  const status = (await (await fetch(`${gateway.url(15000)}/status`)).json()) as {
    staleFiles: { file: string; objects: string[]; problems: string[] }[]
  }
  expect(status.staleFiles).toHaveLength(1)
  expect(status.staleFiles[0]?.file).toContain('route.yaml')
  expect(status.staleFiles[0]?.objects).toEqual(['HTTPRoute/default/all'])
  expect(status.staleFiles[0]?.problems[0]).toContain('[invalid-yaml]')

  await folder.write('route.yaml', routeYaml('all', '/', 'two'))
  await liveEverywhere('two')
  await eventually('mended', () => gateway.output.stderr.includes('is in use again'))
})

test('an object that becomes invalid keeps its last good version; the others of its file change', async () => {
  await folder.write('route.yaml', `${routeYaml('all', '/', 'one')}---${routeYaml('other', '/other', 'one')}`)
  await liveEverywhere('one')
  const broken = routeYaml('all', '/', 'two').replace('PathPrefix', 'PathPrefiks')
  await folder.write('route.yaml', `${broken}---${routeYaml('other', '/other', 'two')}`)
  await eventually('the valid one changes', async () => (await ask(false, '/other')).server === 'two' || undefined)
  expect((await ask(false)).server).toBe('one')
  await eventually(
    'said with the field',
    () => gateway.output.stderr.includes('spec.rules[0].matches[0].path.type') || undefined,
  )
  const { objects } = (await (await fetch(`${gateway.url(15000)}/status`)).json()) as {
    objects: { origin: { name: string }; status?: unknown }[]
  }
  const saying = objects.filter(({ status }) => JSON.stringify(status ?? '').includes('EditRefused'))
  expect(saying.map(({ origin }) => origin.name)).toEqual(['all'])
  expect(JSON.stringify(saying)).toContain('route.yaml:')
})

test('a new file with an invalid object is reported on the terminal and in /status', async () => {
  await folder.write('new.yaml', backendYaml('three', 1).replace('static', 'statik'))
  await eventually(
    'said',
    () => /\terror\tproblem at=\S*new\.yaml:\d+:\d+ path=spec\.statik /.test(gateway.output.stderr) || undefined,
  )
  const { problems } = (await (await fetch(`${gateway.url(15000)}/status`)).json()) as { problems: string[] }
  expect(problems.join('\n')).toMatch(/new\.yaml:\d+:\d+: error: spec\.statik/)
  await folder.write('new.yaml', backendYaml('three', 1))
  await eventually(
    'resolved',
    () => gateway.output.stderr.includes('all problems of the files are resolved') || undefined,
  )
})

test('objects that go away stop being served', async () => {
  await folder.write('route.yaml', routeYaml('all', '/kept', 'one'))
  await eventually('gone', async () => (await ask(false, '/other')).status === 404 || undefined)
  expect((await ask(false, '/kept')).status).toBe(200)
})

test('a Gateway that goes to another controller, and its routes, have no status of this controller any more', async () => {
  const shown = async () => {
    const { objects } = (await (await fetch(`${gateway.url(15000)}/status`)).json()) as {
      objects: { origin: { kind: string }; status?: unknown }[]
    }
    return objects.flatMap(({ origin, status }) => (status === undefined ? [] : [origin.kind]))
  }
  await folder.write('new.yaml', routeYaml('late', '/late', 'one'))
  await eventually('served', async () => (await shown()).includes('HTTPRoute') || undefined)
  await folder.write(
    'gateway.yaml',
    gatewayYaml(port).replace('gatewayClassName: gatewright', 'gatewayClassName: theirs'),
  )
  await eventually('withdrawn', async () => !(await shown()).some((kind) => kind !== 'ProxyBackend') || undefined)
})
