import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import { Head } from '#net/http/head.ts'
import { specFrom } from '#policies/shared/testing.ts'
import { AnswerEnd } from '#protocols/llm/chat/answer-end.ts'
import type { WireDialect } from '#protocols/llm/chat/dialect.ts'
import { FORMATS, findTranslation } from '#protocols/llm/dialects/index.ts'
import { JsonValue, parseDocument } from '#protocols/llm/json/json-document.ts'
import { buildProvider } from '#protocols/llm/providers/providers.ts'
import { llmProvider } from '#protocols/llm/settings/provider-schema.ts'
import type { ClientFormat } from '#protocols/llm/settings/route-type.ts'
import { translateInSteps } from '#protocols/llm/translation/translate-request.ts'
import { CLIENTS, FEATURES, type Feature, PROVIDERS, TOLD, type Told } from './carried.ts'

const PAGE = new URL('../../docs/behaviour/llm-translation.md', import.meta.url)
const BEGIN = '<!-- generated -->\n'
const encoder = new TextEncoder()

/** What becomes of a part of a request. */
function carried(feature: Feature, client: (typeof CLIENTS)[number], provider: WireDialect): string {
  const members = feature.by[client]
  if (members === undefined) return '-'
  // A model of each family, so that what a family refuses shows.
  const model = provider === 'completions' ? (feature.model ?? 'gpt-4.1') : 'claude-sonnet-4-5'
  const body = encoder.encode(JSON.stringify({ model, ...members }))
  const translated = runAtOnce(
    translateInSteps(
      client,
      { kind: 'send', dialect: provider, path: '/' },
      body,
      Head.request('POST', '/'),
      undefined,
    ),
  )
  if ('kind' in translated) return '400'
  if (translated.facts.dropped.length === 0) return 'yes'
  const isSent = feature.sent !== undefined && Buffer.from(translated.body).includes(feature.sent)
  return isSent ? 'in part' : 'left out'
}

/** Whether a client of a format sees a part of an answer. */
function shown(told: Told, client: ClientFormat): string {
  const dialect = FORMATS[client].client!
  const request = parseDocument(encoder.encode('{"model":"m","stream":true,"stream_options":{"include_usage":true}}'))
  if (!(request instanceof JsonValue)) throw new Error('not JSON')
  const context = {
    request,
    provider: 'messages' as const,
    model: 'm',
    createdSeconds: 0,
    newId: (prefix: string) => `${prefix}x`,
  }
  let whole = ''
  let stream = ''
  const writers = [
    dialect.writeAnswer(context, (body) => {
      whole = new TextDecoder().decode(body)
    }),
    dialect.writeStream(context, (events) => {
      stream += events
    }),
  ]
  for (const writer of writers) {
    const sink = new AnswerEnd(writer, { claim: undefined, maxKept: 0 })
    sink.start('i', 'm')
    told.tell(sink)
    sink.end()
  }
  const [inWhole, inStream] = [whole, stream].map((text) => text.includes(told.shows))
  expect(inWhole || !inStream, `${told.name} for ${client}: only in streams`).toBe(true)
  if (inWhole && !inStream) return 'whole answers only'
  return inWhole ? 'yes' : '-'
}

/** Providers by their blocks, with a model where it decides. */
const BACKENDS: readonly (readonly [name: string, spec: object, model: string])[] = [
  ['`providerOne` (OpenAI)', { providerOne: {} }, 'gpt-4.1'],
  ['`providerTwo` (Azure OpenAI)', { providerTwo: { endpoint: 'a.test' } }, 'gpt-4.1'],
  [
    '`providerThree` (Azure AI), `ResourceTypeOne`',
    { providerThree: { resourceName: 'r', resourceType: 'ResourceTypeOne' } },
    'gpt-4.1',
  ],
  [
    '`providerThree`, `ResourceTypeTwo`',
    { providerThree: { resourceName: 'r', resourceType: 'ResourceTypeTwo', projectName: 'p' } },
    'gpt-4.1',
  ],
  [
    'the same, models `claude...`',
    { providerThree: { resourceName: 'r', resourceType: 'ResourceTypeTwo', projectName: 'p' } },
    'claude-sonnet-4-5',
  ],
  ['`providerFour` (Anthropic)', { providerFour: {} }, 'claude-sonnet-4-5'],
  ['`providerFive` (Gemini)', { providerFive: {} }, 'gemini-2.5-pro'],
  ['`providerSix` (Vertex AI)', { providerSix: { projectId: 'p' } }, 'gemini-2.5-pro'],
  ['the same, models `claude...`', { providerSix: { projectId: 'p' } }, 'claude-sonnet-4-5'],
  ['`providerSeven` (Amazon Bedrock)', { providerSeven: {} }, 'amazon.titan-embed-text-v2:0'],
  ['the same, models `anthropic.claude...`', { providerSeven: {} }, 'anthropic.claude-sonnet-4-5'],
]

const TYPES: readonly ClientFormat[] = ['Completions', 'Responses', 'Embeddings', 'Messages', 'MessagesTokenCount']

/** What a provider gets for requests of a format. */
function conversion(spec: object, model: string, format: ClientFormat): string {
  const found = buildProvider(specFrom(llmProvider, spec)).convert(format, model, false)
  switch (found.kind) {
    case 'send':
      return found.dialect === FORMATS[format].dialect ? 'as is' : `to ${found.dialect}`
    case 'count':
      return 'counted'
    default:
      return '400'
  }
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('')
}

function generated(): string {
  const pairs = CLIENTS.flatMap((client) =>
    PROVIDERS.filter((provider) => {
      return provider !== FORMATS[client].dialect && findTranslation(client, provider) !== undefined
    }).map((provider) => [client, provider] as const),
  )
  const requests = table(
    ['Part of a request', ...pairs.map(([client, provider]) => `${client} to ${provider}`)],
    FEATURES.map((feature) => [feature.name, ...pairs.map(([client, provider]) => carried(feature, client, provider))]),
  )
  const clients = CLIENTS.filter((client) => FORMATS[client].client !== undefined)
  const answers = table(
    ['Part of an answer', ...clients],
    TOLD.map((told) => [told.name, ...clients.map((client) => shown(told, client))]),
  )
  const providers = table(
    ['Provider', 'Name', ...TYPES],
    BACKENDS.map(([name, spec, model]) => {
      const { system } = buildProvider(specFrom(llmProvider, spec))
      return [name, `\`${system}\``, ...TYPES.map((format) => conversion(spec, model, format))]
    }),
  )
  return `\n## Formats by provider\n\n${providers}\n## Requests\n\n${requests}\n## Answers\n\n${answers}`
}

test('the page on translation says what the code does (UPDATE=1 writes it)', () => {
  const page = readFileSync(PAGE, 'utf8')
  const text = page.slice(0, page.indexOf(BEGIN) + BEGIN.length) + generated()
  if (process.env.UPDATE === '1') writeFileSync(PAGE, text)
  else expect(page).toBe(text)
})
