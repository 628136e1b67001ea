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
  expect(printed.at(-1)).toContain('step 3, POST /realms/master/protocol/openid-connect/token: status 401')
  expect(printed.join('\n')).not.toContain('wrong')
  printed.length = 0
  expect(await setup('--admin-password', 'wrong', '-o', 'json')).toBe(1)
  expect(JSON.parse(printed.join('\n'))).toMatchObject({ ok: false, failure: { step: 3 } })
})

test('a dry run needs no password and sends nothing', async () => {
  const words = ['idp', 'setup', '--url', 'http://127.0.0.1:9', '--dry-run']
  expect(await runCommandLine(words)).toBe(0)
  expect(printed[0]).toBe('POST http://127.0.0.1:9/realms/master/protocol/openid-connect/token')
})

test.each([
  [['--url', 'ftp://127.0.0.1'], 'scheme http or https'],
  [['--url', 'http://127.0.0.1/auth'], 'no path'],
  [['--url', 'https://idp.example'], 'add --yes'],
  [['--url', 'http://8.8.8.8'], 'add --yes'],
  [['--user', 'ann'], 'name:password:group'],
  [['--target', 'Service/shop'], '--target must be'],
  [['-o', 'yaml'], '--output is text or json'],
  [['--admin-password', '@/none'], '--admin-password: ENOENT'],
])('%j is a mistake', async (words, message) => {
  provider.calls.length = 0
  expect(await setup(...words)).toBe(2)
  expect(printed.at(-1)).toContain(message)
})

test('the password comes from the environment, too', async () => {
  const words = ['idp', 'setup', '--url', provider.url.href, '--realm', 'shop', ...USERS]
  expect(await runCommandLine(words)).toBe(2)
  vi.stubEnv('GATEWRIGHT_IDP_ADMIN_PASSWORD', ADMIN.password)
  const code = await runCommandLine(words)
  vi.unstubAllEnvs()
  expect(code).toBe(0)
})
