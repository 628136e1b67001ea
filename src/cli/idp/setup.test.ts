import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { ADMIN, startTestProvider } from '#idp/provider/testing.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'
import { runCommandLine } from '../program.ts'

let provider: Awaited<ReturnType<typeof startTestProvider>>
let printed: string[]

beforeAll(async () => {
  provider = await startTestProvider()
})
afterAll(() => provider.close())
beforeEach(() => {
  printed = []
  for (const name of ['log', 'error'] as const) {
    vi.spyOn(console, name).mockImplementation((line) => void printed.push(line))
  }
})
afterEach(() => void vi.restoreAllMocks())

const USERS = ['--user', 'ann:a:b:makers', '--user', 'ben:ben-password:sellers']

function setup(...words: readonly string[]): Promise<number> {
  const fixed = ['idp', 'setup', '--url', provider.url.href, '--realm', 'shop', '--admin-password', ADMIN.password]
  return runCommandLine([...fixed, ...words])
}

test('each step is a line; objects, secrets and commands follow', async () => {
  const file = join(temporaryFolder(), 'tokens.yaml')
  expect(await setup(...USERS, '--target', 'Gateway/main', '--write', file)).toBe(0)
  const steps = printed.flatMap((line) => /^ ?(?<step>\d+) .* done/.exec(line)?.groups?.step ?? [])
  expect(steps).toEqual(['3', '4', '5', '6', '7', '8', '8', '9', '10', '11'])
  const text = printed.join('\n')
  expect(text).toContain(`issuer         ${provider.url.origin}/realms/shop`)
  expect(text).toContain('user           ann, password a:b, group makers')
  expect(text).toContain('Authorization: Bearer $TOKEN')
  const objects = readFileSync(file, 'utf8')
  expect(objects).toContain('kind: Gateway\n      name: main')

  // The same again is no change; another text is not overwritten.
  expect(await setup(...USERS, '--target', 'Gateway/main', '--write', file)).toBe(0)
  writeFileSync(file, 'mine')
  expect(await setup(...USERS, '--write', file)).toBe(2)
  expect([readFileSync(file, 'utf8'), printed.at(-1)]).toEqual(['mine', expect.stringContaining('exists')])
})

test('as JSON', async () => {
  expect(await setup(...USERS, '-o', 'json')).toBe(0)
  const { ok, steps, users, client } = JSON.parse(printed.join('\n'))
  expect([ok, steps.length, users[1], typeof client.secret]).toEqual([
    true,
    10,
    { username: 'ben', password: 'ben-password', group: 'sellers' },
    'string',
  ])
})

test('a failure names the step, and the exit code is 1', async () => {
  expect(await setup('--admin-password', 'wrong')).toBe(1)
  expect(printed.at(-1)).toContain(
    `step 3, POST ${provider.url.origin}/realms/master/protocol/openid-connect/token: status 401`,
  )
  expect(printed.join('\n')).not.toContain('wrong')
  printed.length = 0
  expect(await setup('--admin-password', 'wrong', '-o', 'json')).toBe(1)
  expect(JSON.parse(printed.join('\n'))).toMatchObject({ ok: false, failure: { step: 3 } })
})

test('a dry run needs no password and sends nothing', async () => {
  const words = ['idp', 'setup', '--url', 'http://127.0.0.1:9', '--dry-run']
  expect(await runCommandLine(words)).toBe(0)
  expect(printed[0]).toBe('POST http://127.0.0.1:9/realms/master/protocol/openid-connect/token')
  printed.length = 0
  expect(await runCommandLine([...words, '-o', 'json'])).toBe(0)
  const { ok, steps, calls } = JSON.parse(printed.join('\n'))
  expect([ok, steps.length, calls[0]]).toEqual([
    true,
    10,
    {
      method: 'POST',
      url: 'http://127.0.0.1:9/realms/master/protocol/openid-connect/token',
      form: { client_id: 'admin-cli', username: 'admin', password: '***', grant_type: 'password' },
    },
  ])
})

test('passwords that were generated are printed, whatever happens afterwards', async () => {
  const other = await startTestProvider()
  const words = ['idp', 'setup', '--url', other.url.href, '--realm', 'shop', '--admin-password', ADMIN.password]
  const passwords = () => printed.filter((line) => /^user +(alice|bob), password \S{16}, group/.test(line))
  expect(await runCommandLine([...words, '--write', temporaryFolder()])).toBe(2)
  expect([passwords().length, printed.join('\n'), printed.at(-1)]).toEqual([
    2,
    expect.stringContaining('kind: ProxyPolicy'),
    expect.stringContaining('--write'),
  ])

  // A second run does not know them, but the client itself can get a token.
  printed.length = 0
  expect(await runCommandLine(words)).toBe(0)
  expect([passwords(), printed.at(-2)]).toEqual([[], expect.stringContaining("'grant_type=client_credentials'")])

  const { users } = other.state.realm('shop')!
  for (const format of ['text', 'json']) {
    for (const { id, username } of users.values()) if (username === 'alice') users.delete(id)
    printed.length = 0
    vi.stubGlobal('fetch', failingAt(/openid-configuration/))
    expect(await runCommandLine([...words, '-o', format])).toBe(1)
    vi.unstubAllGlobals()
    const known = format === 'text' ? passwords() : JSON.parse(printed.join('\n')).users
    expect(known).toHaveLength(1)
  }
  await other.close()
})

/** `fetch`, but for some addresses. */
function failingAt(address: RegExp): typeof fetch {
  const { fetch } = globalThis
  return async (input, init) => {
    if (address.test(String(input))) throw new TypeError('fetch failed')
    return fetch(input, init)
  }
}

test.each([
  [['--url', 'ftp://127.0.0.1'], 'scheme http or https'],
  [['--url', 'http://127.0.0.1/auth'], 'no path'],
  [['--url', 'https://idp.example'], 'add --yes'],
  [['--url', 'http://8.8.8.8'], 'add --yes'],
  [['--url', 'http://127.0.0.1/#a'], 'no path'],
  [['--url', 'http://127.0.0.1/?a'], 'no path'],
  [['--url', 'http://admin:secret@127.0.0.1/'], 'no user and no password'],
  [['--url', 'http://:secret@127.0.0.1/'], 'no user and no password'],
  [['--realm', '..'], 'is not a name of a realm'],
  [['--realm', ''], 'is not a name of a realm'],
  [['--client-id', ''], '--client-id is empty'],
  [['--user', 'ann:a:b', '--user', 'Ann:c:d'], '--user ann is there twice'],
  [['--user', 'ann'], 'name:password:group'],
  [['--target', 'Service/shop'], '--target must be'],
  [['-o', 'yaml'], '--output is text or json'],
  [['--admin-password', '@/none'], '--admin-password: ENOENT'],
])('%j is a mistake', async (words, message) => {
  provider.calls.length = 0
  expect(await setup(...words)).toBe(2)
  expect(printed.at(-1)).toContain(message)
  expect([printed.at(-1), provider.calls]).toEqual([expect.not.stringContaining('secret'), []])
})

test('the password comes from the environment, too', async () => {
  const words = ['idp', 'setup', '--url', provider.url.href, '--realm', 'shop', ...USERS]
  expect(await runCommandLine(words)).toBe(2)
  vi.stubEnv('GATEWRIGHT_IDP_ADMIN_PASSWORD', ADMIN.password)
  const code = await runCommandLine(words)
  vi.unstubAllEnvs()
  expect(code).toBe(0)
})
