import { expect, test } from 'vitest'
import type { SecretHider } from '#base/known-secrets.ts'
import { SecretSet } from '#base/secret-set.ts'
import type { OtlpTarget } from '#exchange/otlp-target.ts'
import { decodeOfficial } from '#test/support/otlp-definitions.ts'
import { Ended } from '../ended.ts'
import { AccessLog } from '../log/access-log.ts'
import { JSON_LINE } from '../log/field-line.ts'
import { type ObservedInputs, observed, observedRelay, PLACE, type SettingTexts, settingsOf } from '../testing.ts'
import type { Exporters } from './exporters.ts'
import { OtlpAccessLog } from './otlp-access-log.ts'

const TARGET: OtlpTarget = {
  signal: 'logs',
  backend: 'ProxyBackend/default/c',
  protocol: 'GRPC',
  path: '/v1/logs',
  resource: () => [],
  key: 'k',
}
const HIDER: SecretHider = {
  version: 0,
  hide: (text) => text.replaceAll('hidden', '*'),
  hideValues: (text) => text.replaceAll('hidden', '*'),
}

/** The attributes of the exported entry and the fields of the written line. */
function both(ended: (settings: ReturnType<typeof settingsOf>) => Ended, texts: SettingTexts = {}) {
  const lines: string[] = []
  const records: Uint8Array[] = []
  const exporters: Pick<Exporters, 'add'> = { add: (_, item) => void records.push(item) }
  const copy = new OtlpAccessLog(exporters as Exporters, HIDER)
  const log = new AccessLog(JSON_LINE, (line) => lines.push(line), HIDER, copy)
  log.log(ended(settingsOf({ otlp: TARGET, ...texts })))
  const [record] = records.map((one) => decodeOfficial('opentelemetry.proto.logs.v1.LogRecord', one))
  const attributes = (record?.attributes ?? []) as { readonly key: string; readonly value: object }[]
  const {
    level: _,
    time: __,
    scope: ___,
    ...line
  } = lines.length === 0 ? {} : (JSON.parse(lines[0]!) as Record<string, unknown>)
  return { names: attributes.map(({ key }) => key), line, attributes, records }
}

const ended = (inputs: ObservedInputs) => (settings: ReturnType<typeof settingsOf>) =>
  new Ended(observed({ settings, ...inputs }), 1_800_000_000_000, 1.5, undefined)

test.each<[string, ObservedInputs]>([
  ['a request', { line: 'GET /x?a=1', endpointLabel: '127.0.0.1:80' }],
  ['an LLM call', { llm: { operation: 'chat', inputTokens: 1, finishReasons: ['stop', 'length'] } }],
  ['an MCP message', { mcp: { method: 'tools/call', resourceType: 'tool', name: 'add' } }],
  ['a secret', { line: 'GET /hidden' }],
])('an entry has the fields of its line: %s', (_, inputs) => {
  const { names, line } = both(ended(inputs))
  expect(names).toEqual(Object.keys(line))
})

test('relayed connections, too', () => {
  const { names, line, attributes } = both(
    (settings) => new Ended(observedRelay({ settings }), 1_800_000_000_000, 1.5, undefined),
  )
  expect(names).toEqual(Object.keys(line))
  expect(attributes).toContainEqual({ key: 'tls.sni', value: { stringValue: 'db.example.com' } })
})

test('names of a flattened value replace those of fields', () => {
  const add = { http: 'flatten({"method": "mine", "more": 1})' }
  const { names, attributes } = both(ended({}), { add })
  expect(names.filter((name) => name === 'http.method')).toHaveLength(1)
  expect(attributes).toContainEqual({ key: 'http.method', value: { stringValue: 'mine' } })
  expect(attributes).toContainEqual({ key: 'http.more', value: { intValue: '1' } })
})

test('an expression is evaluated once for line and entry, and secrets are hidden in both', () => {
  const { line, attributes } = both(ended({ headers: { 'x-a': 'hidden' } }), { add: { a: 'request.headers["x-a"]' } })
  expect(line).toMatchObject({ a: '*' })
  expect(attributes).toContainEqual({ key: 'a', value: { stringValue: '*' } })
})

test('a value that entries repeat is hidden as soon as it is a secret', () => {
  const secrets = new SecretSet()
  const records: Uint8Array[] = []
  const exporters: Pick<Exporters, 'add'> = { add: (_, item) => void records.push(item) }
  const log = new AccessLog(JSON_LINE, () => {}, secrets, new OtlpAccessLog(exporters as Exporters, secrets))
  const one = ended({ place: { ...PLACE, route: 'default/tenant-4711' } })(settingsOf({ otlp: TARGET }))
  log.log(one)
  secrets.set('a', ['tenant-4711'])
  log.log(one)
  const shown = records.map((record) => {
    const { attributes } = decodeOfficial('opentelemetry.proto.logs.v1.LogRecord', record)
    return (attributes as { readonly key: string; readonly value: object }[]).find(({ key }) => key === 'route')?.value
  })
  expect(shown).toEqual([{ stringValue: 'default/tenant-4711' }, { stringValue: 'default/<redacted>' }])
})

test('the filter applies', () => {
  expect(both(ended({}), { filter: 'false' }).records).toEqual([])
})
