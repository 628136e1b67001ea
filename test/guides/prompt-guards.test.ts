import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'
import { temporaryFolder } from '#test/support/temporary-folder.ts'

const PAGE = readFileSync('docs/behaviour/prompt-guards.md', 'utf8')
const POLICIES = [...PAGE.matchAll(/### `(\w+)`\n.*?```yaml\n(.*?)```/gs)].map(([, kind = '', yaml = '']) => ({
  kind,
  yaml,
}))
const ENVIRONMENT = { OPENAI_API_KEY: 'o', AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE', AWS_SECRET_ACCESS_KEY: 's' }

test('there is an example of each kind', () => {
  expect(POLICIES.map(({ kind }) => kind)).toEqual([
    'regex',
    'webhook',
    'moderationEndpoint',
    'guardrailsServiceOne',
    'guardrailsServiceTwo',
  ])
})

test.each(POLICIES)(
  'the example of $kind has no problems with the objects of examples/guards',
  async ({ kind, yaml }) => {
    const folder = temporaryFolder()
    cpSync('examples/guards/gateway.yaml', join(folder, 'gateway.yaml'))
    writeFileSync(join(folder, 'policy.yaml'), yaml)
    const { code, stdout } = await gatewright(['lint', '--fail-on', 'warnings', folder], ENVIRONMENT)
    expect([code, stdout]).toEqual([0, expect.stringContaining('nothing to report')])
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] })
    const url = 'http://localhost:18446/v1/chat/completions'
    const explained = await gatewright(['explain', '-f', folder, '-d', body, url], ENVIRONMENT)
    expect(explained.stdout).toContain(kind)
    expect(explained.stdout).toContain('request to the backend')
  },
)

test.each([
  ['routes beside guards', /```yaml\n(ai:\n.*?)```/s, []],
  [
    'the way to a service',
    / {2}```yaml\n( {2}guardrailsServiceTwo:\n.*?) {2}```/s,
    ['secret-not-found', 'backend-not-found', 'config-map-not-found'],
  ],
])('the fragment with %s is valid beside what it names', async (_, fragment, missing) => {
  const yaml = fragment.exec(PAGE)![1]!
  const guards = yaml.startsWith('ai:')
    ? yaml
    : `ai:\n  promptGuard:\n    request:\n    -\n${yaml.replace(/^/gm, '    ')}`
  const folder = temporaryFolder()
  cpSync('examples/guards/gateway.yaml', join(folder, 'gateway.yaml'))
  const head = POLICIES[0]!.yaml.split('    ai:\n')[0]!
  writeFileSync(join(folder, 'policy.yaml'), `${head}${guards.replace(/^/gm, '    ')}`)
  const { stdout } = await gatewright(['lint', folder])
  expect([...stdout.matchAll(/\[([\w-]+)\]$/gm)].map(([, code]) => code)).toEqual(missing)
})
