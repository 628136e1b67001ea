import { globSync, readFileSync } from 'node:fs'
import { findProvider } from '@pydantic/genai-prices'
import { expect, test } from 'vitest'
import { NO_LLM } from '#exchange/llm-facts.ts'
import { reduceModelName } from '#models/model-names.ts'
import { packPrices } from '#models/package-prices.ts'
import { PriceBook } from '#models/price-book.ts'
import { modelOf } from '#protocols/llm/models/models.ts'
import { MODEL_END_DATES } from './model-end-dates.ts'

/** What users copy. The page about translations names the models of its recordings, which no user sends. */
const FILES = globSync([
  'examples/**/*.{md,yaml}',
  'docs/**/*.{md,yaml}',
  'README.md',
  'src/cli/init/*.yaml',
  'src/{policies,protocols}/**/*.yaml',
]).filter((file) => !file.endsWith('llm-translation.md'))

/** Names of models of the vendors that announce ends, with what platforms put before them. */
const NAME = /\b(?:[a-z]+\.){0,2}(?:gpt|claude|gemini)-(?=[\w-]*\d)[\w.:-]*\w/g

interface Named {
  readonly name: string
  readonly place: string
}

function namesIn(file: string): Named[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, i) => [...line.matchAll(NAME)].map(([name]) => ({ name, place: `${file}:${i + 1}` })))
}

const NAMED = FILES.flatMap(namesIn)
const ENDS: ReadonlyMap<string, string> = new Map(
  Object.entries(MODEL_END_DATES).flatMap(([date, names]) => names.map((name) => [name, date] as const)),
)

const endOf = (name: string) => ENDS.get(reduceModelName(name, (reduced) => ENDS.has(reduced)) ?? '')

test('what users copy names models, and none with an end date', () => {
  expect(NAMED.length).toBeGreaterThan(8)
  const ending = NAMED.flatMap(({ name, place }) =>
    endOf(name) === undefined ? [] : `${place}: ${name} ends: ${endOf(name)}`,
  )
  expect(ending).toEqual([])
})

/** Amazon Bedrock has this model only under a name with a date. */
const DATED = ['eu.anthropic.claude-haiku-4-5-20251001-v1:0']

test('examples name models without a date', () => {
  const dated = NAMED.filter(({ name }) => /\d{8}|\d{4}-\d{2}-\d{2}/.test(name) && !DATED.includes(name))
  expect(dated).toEqual([])
})

test('the end of a model is that of its dated versions, on any platform', () => {
  const ends = ['gpt-5', 'gpt-5-2025-08-07', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 'gpt-6-sol', 'gpt-5.2']
  expect(ends.map(endOf)).toEqual(['2026-12-11', '2026-12-11', '2026-11-30', undefined, undefined])
})

test('the list has every model that the client of the vendor warns of', () => {
  const file = 'node_modules/@anthropic-ai/sdk/resources/messages/messages.js'
  const [, table = ''] = /DEPRECATED_MODELS = \{(.*?)\}/s.exec(readFileSync(file, 'utf8')) ?? []
  const warned = [...table.matchAll(/'([^']+)': '([^']+)'/g)].map(([, name = '', date = '']) => [name, dateOf(date)])
  expect(warned.length).toBeGreaterThan(0)
  expect(warned.filter(([name = '', date]) => endOf(name) !== date)).toEqual([])
})

/** `November 30th, 2026`. */
function dateOf(text: string): string {
  return new Date(`${text.replace(/(\d+)(?:st|nd|rd|th)/, '$1')} UTC`).toISOString().slice(0, 10)
}

test('the models of examples are in the catalogue, and have prices', () => {
  const book = new PriceBook()
  book.update({ vendors: packPrices(findProvider), own: [] })
  const priced = (name: string) => {
    const [provider, serverAddress] = name.includes('anthropic.')
      ? (['aws.bedrock', 'bedrock-runtime.eu-central-1.amazonaws.com'] as const)
      : name.startsWith('claude')
        ? (['anthropic', 'api.anthropic.com'] as const)
        : (['openai', 'api.openai.com'] as const)
    const usage = { inputTokens: 1, outputTokens: 1 }
    const call = { ...NO_LLM, operation: 'chat', provider, serverAddress, requestModel: name, ...usage } as const
    return book.costOf(call, Date.UTC(2026, 10, 28)) !== undefined
  }
  const names = new Set(NAMED.filter(({ place }) => /^(?:examples|src)/.test(place)).map(({ name }) => name))
  expect([...names].filter((name) => modelOf(name).name === undefined || !priced(name))).toEqual([])
})
