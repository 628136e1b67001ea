import { expect, test } from 'vitest'
import { Head } from '#net/http/head.ts'
import type { WireDialect } from '../chat/dialect.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { foreignFields } from './foreign-fields.ts'

const SENT = {
  'content-type': 'application/json',
  authorization: 'Bearer x',
  'user-agent': 'Client/1',
  'x-tenant': 'a',
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'b',
  'x-app': 'cli',
  'x-api-key': 'k',
  'OpenAI-Organization': 'org',
  'openai-beta': 'c',
  'api-key': 'k',
  session_id: 's',
  'X-Stainless-Lang': 'js',
  'x-stainless-retry-count': '0',
}
const TELEMETRY = ['x-stainless-lang', 'x-stainless-retry-count']
const OF_OPENAI = ['openai-organization', 'openai-beta', 'session_id', ...TELEMETRY]
const OF_ANTHROPIC = ['anthropic-version', 'anthropic-beta', 'x-app', ...TELEMETRY]

test.each<[from: ClientFormat, to: WireDialect, keepsKeys: boolean, removed: readonly string[]]>([
  ['Messages', 'completions', false, [...OF_ANTHROPIC, 'x-api-key']],
  ['Messages', 'completions', true, OF_ANTHROPIC],
  ['Messages', 'converse', false, [...OF_ANTHROPIC, 'x-api-key']],
  ['MessagesTokenCount', 'count-by-invoking', false, [...OF_ANTHROPIC, 'x-api-key']],
  ['Messages', 'messages', false, []],
  ['Completions', 'messages', false, [...OF_OPENAI, 'api-key']],
  ['Responses', 'messages', true, OF_OPENAI],
  ['Responses', 'converse', false, [...OF_OPENAI, 'api-key']],
  ['Embeddings', 'predict', false, [...OF_OPENAI, 'api-key']],
  // Both are APIs of one vendor.
  ['Responses', 'completions', false, []],
  ['Completions', 'completions', false, []],
])('from %s to %s, other keys %j', (from, to, keepsKeys, removed) => {
  const head = new Head()
  for (const [name, value] of Object.entries(SENT)) head.set(name.toLowerCase(), value)
  expect([...foreignFields(from, to, head, keepsKeys)].sort()).toEqual([...removed].sort())
})
