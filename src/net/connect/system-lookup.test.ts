import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { NameServer } from '../testing/name-server.ts'
import type { Lookup } from './names.ts'
import { parseHosts, parseSearch, searched } from './resolver-files.ts'
import { createLookup, type NameSources, systemSources } from './system-lookup.ts'

const server = new NameServer()
const folder = mkdtempSync(join(tmpdir(), 'names-'))

beforeAll(() => server.start())
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})
beforeEach(() => {
  server.names.clear()
  server.asked.length = 0
})

interface Result {
  readonly code: string | undefined
  readonly addresses: readonly string[]
  readonly ttlMs: number | undefined
  /** Whether the resolver of the system was asked. */
  readonly system: boolean
}

/** The test server, and nothing else. */
function sourcesOf(sources: Partial<NameSources>): NameSources {
  const resolver = server.resolver()
  return {
    hosts: () => undefined,
    search: () => ({ domains: [], ndots: 1 }),
    resolve4: (name, options, done) => resolver.resolve4(name, options, done),
    resolve6: (name, options, done) => resolver.resolve6(name, options, done),
    system: (_, done) => done(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), []),
    ...sources,
  }
}

function lookUp(host: string, sources: Partial<NameSources> = {}): Promise<Result> {
  return new Promise((resolve) => {
    let system = false
    const { system: unknown } = sourcesOf({})
    const noted: Lookup = (name, done) => {
      system = true
      unknown(name, done)
    }
    createLookup(sourcesOf({ system: noted, ...sources }))(host, (error, addresses, ttlMs) =>
      resolve({ code: error?.code, addresses, ttlMs, system }),
    )
  })
}

test('both families are asked for, and the shortest TTL counts', async () => {
  server.names.set('a.test', { a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'], ttl: 17 })
  const addresses = ['2001:db8::1', '192.0.2.1', '192.0.2.2']
  const result = await lookUp('a.test')
  expect({ ...result, addresses: result.addresses.toSorted() }).toEqual({
    code: undefined,
    addresses: addresses.toSorted(),
    ttlMs: 17_000,
    system: false,
  })
  expect(result.addresses[0]).toBe('2001:db8::1')
  expect(server.asked.toSorted()).toEqual(['a.test a', 'a.test aaaa'])
})

test('one family is sufficient, also if the server fails or does not respond for the other', async () => {
  server.names.set('four.test', { a: ['192.0.2.1'] })
  server.names.set('six.test', { aaaa: ['2001:db8:0:0:0:0:0:1'] })
  server.names.set('slow.test', { a: ['192.0.2.1'], aaaa: ['2001:db8:0:0:0:0:0:1'], silent: 'aaaa' })
  expect((await lookUp('four.test')).addresses).toEqual(['192.0.2.1'])
  expect((await lookUp('six.test')).addresses).toEqual(['2001:db8::1'])
  expect((await lookUp('slow.test')).addresses).toEqual(['192.0.2.1'])
})

test.each([
  ['a', ['2001:db8::1'], ['2001:db8::1', '192.0.2.1']],
  ['aaaa', ['192.0.2.1'], ['2001:db8::1', '192.0.2.1']],
] as const)(
  'the addresses of one family are used while the answer for %s is late, then those of both',
  async (late, first, both) => {
    const records = { a: ['192.0.2.1'], aaaa: ['2001:db8:0:0:0:0:0:1'] }
    server.names.set('a.test', { ...records, silent: late })
    const answers: unknown[] = []
    createLookup(sourcesOf({}))('a.test', (error, addresses, _, missing) => {
      answers.push([error, addresses, missing])
    })
    await expect.poll(() => answers).toEqual([[null, first, 'late']])
    server.names.set('a.test', records)
    server.answerLate()
    await expect.poll(() => answers.slice(1)).toEqual([[null, both, undefined]])
  },
)

test('a family that the server fails for is not taken for one without addresses', async () => {
  server.names.set('slow.test', { aaaa: ['2001:db8:0:0:0:0:0:1'], silent: 'a' })
  const answers: unknown[] = []
  createLookup(sourcesOf({}))('slow.test', (error, addresses, _, missing) => {
    answers.push([error, addresses, missing])
  })
  await expect
    .poll(() => answers, { timeout: 5000 })
    .toEqual([
      [null, ['2001:db8::1'], 'late'],
      [null, ['2001:db8::1'], 'failed'],
    ])
})

test('a chain of aliases is followed; a loop has no addresses', async () => {
  server.names.set('web.test', { aliases: ['one.test', 'two.test'], a: ['192.0.2.1'], ttl: 7 })
  expect(await lookUp('web.test')).toMatchObject({ addresses: ['192.0.2.1'], ttlMs: 7000 })
  server.names.set('loop.test', { aliases: ['one.test', 'loop.test'] })
  expect(await lookUp('loop.test')).toMatchObject({ code: 'ENOTFOUND', addresses: [], system: true })
})

test('a truncated answer is asked for again over TCP', async () => {
  const many = Array.from({ length: 100 }, (_, i) => `192.0.2.${i}`)
  server.names.set('many.test', { a: many, truncated: true })
  expect((await lookUp('many.test')).addresses.toSorted()).toEqual(many.toSorted())
  expect(server.asked).toContain('many.test a tcp')
})

test('the hosts file takes precedence; its names are not asked for', async () => {
  server.names.set('a.test', { a: ['192.0.2.1'] })
  const hosts = (name: string) => (name === 'a.test' ? ['192.0.2.9'] : undefined)
  expect(await lookUp('A.test', { hosts })).toEqual({
    code: undefined,
    addresses: ['192.0.2.9'],
    ttlMs: undefined,
    system: false,
  })
  expect(server.asked).toEqual([])
})

test('search domains are tried in order, and a failure of one is not skipped', async () => {
  server.names.set('web.prod.cluster.test', { a: ['192.0.2.5'] })
  const search = () => ({ domains: ['svc.test', 'cluster.test'], ndots: 5 })
  expect((await lookUp('web.prod', { search })).addresses).toEqual(['192.0.2.5'])
  expect([...new Set(server.asked.map((line) => line.split(' ')[0]))]).toEqual([
    'web.prod.svc.test',
    'web.prod.cluster.test',
  ])
  server.names.set('web.prod.svc.test', { status: 2 })
  expect(await lookUp('web.prod', { search })).toMatchObject({ code: 'ESERVFAIL', addresses: [], system: false })
})

test('a name that DNS does not know is left to the system, and so are names when there is no DNS server', async () => {
  expect(await lookUp('printer.local')).toMatchObject({ code: 'ENOTFOUND', system: true })
  const refused: NameSources['resolve4'] = (_, __, done) =>
    done(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }), [])
  expect(await lookUp('a.test', { resolve4: refused, resolve6: refused })).toMatchObject({ system: true })
  expect(await lookUp('localhost')).toMatchObject({ system: true })
  expect(server.asked.filter((line) => line.startsWith('localhost'))).toEqual([])
})

test('files are read again when they change, and may be missing', () => {
  const hosts = join(folder, 'hosts')
  const sources = systemSources({ hosts, settings: join(folder, 'none') })
  expect(sources.hosts('a.test')).toBeUndefined()
  expect(sources.search()).toEqual({ domains: [], ndots: 1 })
  writeFileSync(hosts, '192.0.2.1 a.test')
  expect(sources.hosts('a.test')).toEqual(['192.0.2.1'])
  writeFileSync(hosts, '192.0.2.77 a.test # moved')
  expect(sources.hosts('a.test')).toEqual(['192.0.2.77'])
})

test('hosts files: comments, several names, several lines for a name, invalid lines', () => {
  const text = '# x\n127.0.0.1\tlocalhost Web.test # y\n::1 localhost\n127.0.0.1 localhost\nfoo bar\n\n'
  expect([...parseHosts(text)]).toEqual([
    ['localhost', ['127.0.0.1', '::1']],
    ['web.test', ['127.0.0.1']],
  ])
})

test.each([
  ['', { domains: [], ndots: 1 }],
  ['search a.test b.test.\noptions ndots:5 timeout:1', { domains: ['a.test', 'b.test'], ndots: 5 }],
  ['domain a.test\nsearch b.test', { domains: ['b.test'], ndots: 1 }],
  ['search .\noptions ndots:99', { domains: [], ndots: 15 }],
])('settings %j', (text, expected) => {
  expect(parseSearch(text)).toEqual(expected)
})

test.each([
  ['a.test', ['a.test', 'a.test.x.test']],
  ['web', ['web.x.test', 'web']],
  ['web.', ['web']],
  ['a.localhost', []],
])('%s is completed to %j', (host, names) => {
  expect(searched(host, { domains: ['x.test'], ndots: 1 })).toEqual(names)
})
