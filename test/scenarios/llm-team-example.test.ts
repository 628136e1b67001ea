import { expect, test } from 'vitest'
import { gatewright } from '#test/support/command-line.ts'

const FOLDER = 'examples/llm-team'
const KEYS = {
  ANTHROPIC_API_KEY: 'a',
  OPENAI_API_KEY: 'o',
  AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 's',
}

function explain(path: string, key: string, body: object) {
  const words = ['explain', '-f', FOLDER, '-H', key, '-d', JSON.stringify(body), `http://localhost:8080${path}`]
  return gatewright(words, KEYS)
}

const messages = [{ role: 'user', content: 'hi' }]

test('the objects have no problems', async () => {
  const { code, stdout } = await gatewright(['lint', '--fail-on', 'warnings', FOLDER], KEYS)
  expect([code, stdout]).toEqual([0, '11 objects: nothing to report\n'])
})

test.each([
  ['/v1/messages', 'x-api-key: key-of-red', { max_tokens: 9000 }],
  ['/v1/messages', 'authorization: Bearer key-of-red', { max_tokens: 9000 }],
  ['/v1/chat/completions', 'authorization: Bearer key-of-red', { max_tokens: 9000 }],
  ['/v1/chat/completions', 'authorization: Bearer key-of-red', { max_completion_tokens: 9000 }],
])('%s with %s: the alias, the prompt and the limits of %j', async (path, key, limit) => {
  const { code, stdout } = await explain(path, key, { model: 'fast', temperature: 0.5, ...limit, messages })
  expect(code).toBe(0)
  const body = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')
  expect(body).toMatchObject({ model: 'claude-haiku-4-5', max_tokens: 4000 })
  expect(body.system).toEqual([{ type: 'text', text: 'You work for the company Example.' }])
  expect(body).not.toHaveProperty('temperature')
})

test('a token count gets no limit that the client has not set', async () => {
  const { stdout } = await explain('/v1/messages/count_tokens', 'x-api-key: key-of-red', { model: 'fast', messages })
  expect(stdout).toContain('"messages":[{"role":"user","content":"hi"}]')
  expect(stdout).not.toContain('max_tokens')
})

test('a key may use the models in its metadata', async () => {
  const refused = await explain('/v1/messages', 'x-api-key: key-of-red', { model: 'smart', max_tokens: 1, messages })
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('authorization-denied')])
  const allowed = await explain('/v1/messages', 'x-api-key: key-of-blue', { model: 'smart', max_tokens: 1, messages })
  expect(allowed.code).toBe(0)
})
