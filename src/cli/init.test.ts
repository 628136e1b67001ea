import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startA2a } from '#examples/upstreams/a2a.ts'
import type { Upstream } from '#examples/upstreams/listen.ts'
import { startLlm } from '#examples/upstreams/llm.ts'
import { startWeather } from '#examples/upstreams/mcp.ts'
import { freePort } from '#test/support/free-port.ts'
import { startGateway } from '#test/support/gateway.ts'
import { explain } from './explain/explain.ts'
import { init } from './init.ts'
import { lint } from './lint/lint.ts'
import { UsageError } from './usage-error.ts'

let folder: string
let printed: string[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatewright-init-'))
  printed = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void printed.push(line))
})

afterEach(() => vi.unstubAllEnvs())
afterEach(() => rm(folder, { recursive: true, force: true }))

test('an existing file is not changed', () => {
  const file = join(folder, 'gateway.yaml')
  init('http', folder)
  const before = readFileSync(file, 'utf8')
  expect(() => init('mcp', folder)).toThrow(new UsageError(`${file} exists; init does not overwrite files`))
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('an unknown topic gets a suggestion', () => {
  expect(() => init('htpp', folder)).toThrow(
    new UsageError('init writes a gateway for http, llm, mcp or a2a, not for htpp; did you mean http?'),
  )
})

test.each([
  ['http', undefined, true],
  ['llm', '  export OPENAI_API_KEY=...', false],
])(
  '%s: the key of a vendor comes before the commands that read it, and example servers are not that vendor',
  (topic, first, examples) => {
    init(topic, folder)
    const commands = printed.filter((line) => line.startsWith('  '))
    const names = commands.map((line) => /gatewright (\w+)/.exec(line)?.[1] ?? line.split(' http')[0])
    const before = first === undefined ? [] : [first]
    const run = examples ? ['run', 'quickstart'] : ['run']
    expect(names).toEqual([...before, 'lint', 'explain', ...run, '  curl', 'status'])
  },
)

/** The arguments of the curl command that `init` printed, for `fetch`. */
function pasted(): { readonly path: string; readonly init: RequestInit } {
  const line = printed.find((each) => each.trim().startsWith('curl '))!
  const words = [...line.trim().matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!)
  const headers: Record<string, string> = {}
  let body: string | undefined
  for (const [index, word] of words.entries()) {
    const value = words[index + 1]!
    if (word === '-d') body = value
    if (word === '-H') headers[value.slice(0, value.indexOf(':'))] = value.slice(value.indexOf(':') + 1).trim()
  }
  const { pathname } = new URL(words[1]!)
  return { path: pathname, init: body === undefined ? { headers } : { method: 'POST', headers, body } }
}

test.each([
  ['http', undefined],
  ['llm', 'llm       Completions to openai, model gpt-6-luna'],
  ['mcp', '  initialize: the response of the target is forwarded'],
  ['a2a', 'A2A agent card; the base URL of the card becomes http://localhost:8080'],
])('%s: explain reads the printed request', async (topic, line) => {
  init(topic, folder)
  vi.stubEnv('OPENAI_API_KEY', KEY.OPENAI_API_KEY)
  const { path, init: request } = pasted()
  const header = Object.entries(request.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
  const { body } = request
  const flags = { file: [folder], header, bind: '127.0.0.1', output: 'json' }
  printed = []
  const data = typeof body === 'string' ? { data: body } : {}
  expect(await explain([`http://localhost:8080${path}`], { ...flags, ...data })).toBe(0)
  expect(JSON.parse(printed.join('')).protocol?.find((each: string) => each === line)).toBe(line)
})

const KEY = { OPENAI_API_KEY: 'k-test' }

const provider = (port: number) =>
  `      providerOne: { model: mock-small }\n      host: 127.0.0.1\n      port: ${port}`

const cases: readonly [
  string,
  ((options: { port: number }) => Promise<Upstream>) | undefined,
  (text: string, port: number) => string,
  RegExp,
][] = [
  ['http', undefined, (text) => text, /^hello from gatewright\n$/],
  ['llm', startLlm, (text, port) => text.replace(/ {6}providerOne:\n.*model: .*/, provider(port)), /good morning/],
  ['mcp', startWeather, (text, port) => text.replace('port: 9121', `port: ${port}`), /"serverInfo"/],
  ['a2a', startA2a, (text, port) => text.replace('port: 9131', `port: ${port}`), /"protocolVersion"/],
]

test.each(cases)('%s: lint reports nothing, and the printed request works', async (topic, start, edit, expected) => {
  init(topic, folder)
  const file = join(folder, 'gateway.yaml')
  vi.stubEnv('OPENAI_API_KEY', KEY.OPENAI_API_KEY)
  expect(await lint([folder], { bind: '127.0.0.1' })).toBe(0)
  const upstream = await start?.({ port: 0 })
  try {
    const written = await readFile(file, 'utf8')
    const edited = edit(written, upstream?.port ?? 0)
    expect(edited !== written).toBe(start !== undefined)
    const port = await freePort()
    await writeFile(file, edited.replace('port: 8080', `port: ${port}`))
    await using gateway = await startGateway({ files: [folder], workers: 1, environment: KEY })
    const request = pasted()
    const response = await fetch(`${gateway.url(port)}${request.path}`, request.init)
    expect(response.status).toBe(200)
    expect(await response.text()).toMatch(expected)
  } finally {
    await upstream?.close()
  }
})

test('llm: a prompt of 5 MB passes', async () => {
  init('llm', folder)
  const file = join(folder, 'gateway.yaml')
  const upstream = await startLlm({ port: 0 })
  try {
    const port = await freePort()
    const written = await readFile(file, 'utf8')
    const edited = written.replace(/ {6}providerOne:\n.*model: .*/, provider(upstream.port))
    await writeFile(file, edited.replace('port: 8080', `port: ${port}`))
    await using gateway = await startGateway({ files: [folder], workers: 1, environment: KEY })
    const { path, init: request } = pasted()
    const body = JSON.stringify({ model: 'mock-small', messages: [{ role: 'user', content: 'x'.repeat(5_000_000) }] })
    const response = await fetch(`${gateway.url(port)}${path}`, { ...request, body })
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"choices"')])
  } finally {
    await upstream.close()
  }
})
