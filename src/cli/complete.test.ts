import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'

async function completions(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await gatewright(['completion', 'words', '--', ...words])
  expect(code).toBe(0)
  return stdout.split('\n').filter((line) => line !== '')
}

test.each([
  [['ren'], ['render']],
  [
    ['mcp', ''],
    ['doctor', 'sessions'],
  ],
  [['lint', '--fix', '--dry'], ['--dry-run']],
  [['run', '--log-level', 'info', '--log-f'], ['--log-format']],
  [['mcp', 'doctor', '--tim'], ['--timeout']],
  [
    ['init', ''],
    ['http', 'llm', 'mcp', 'a2a'],
  ],
  [['fields', 'ProxyPol'], ['ProxyPolicy']],
  [['fields', 'ProxyPolicy.spec.traffic.rate'], ['ProxyPolicy.spec.traffic.rateLimit']],
  [['fields', 'ppolicy.spec.traffic.rateLimit.local[0].re'], ['ppolicy.spec.traffic.rateLimit.local[0].requests']],
  [['fields', 'anth'], ['anthropic']],
])('%j becomes one of %j', async (words, expected) => {
  expect(await completions(...words)).toEqual(expected)
})

test.each([
  ['a file', ['lint', 'exa']],
  ['the value of an option', ['run', '--bind', '']],
  ['a path that no field has', ['fields', 'ProxyPolicy.spec.nope.']],
])('%s is left to the shell', async (_, words) => {
  expect(await completions(...words)).toEqual([])
})

test.each(['bash', 'zsh', 'fish'])('%s gets a script', async (shell) => {
  const { code, stdout } = await gatewright(['completion', shell])
  expect(code).toBe(0)
  expect(stdout).toContain('completion words -- ')
})

test('other shells are a usage error', async () => {
  expect(await gatewright(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' })
})
