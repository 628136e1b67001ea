import { expect, test } from 'vitest'
import { estimateTokens } from './estimate-tokens.ts'

/** Counts of current vocabularies differ; the estimate must lie between these bounds. */
test.each<[text: string, least: number, most: number]>([
  ['', 0, 0],
  ['Hello', 1, 1],
  ['Hello, world!', 3, 5],
  ['The quick brown fox jumps over the lazy dog.', 9, 12],
  ['internationalization', 2, 5],
  ['1234567890', 3, 5],
  ['{"name":"get_weather","arguments":{"city":"Paris"}}', 12, 24],
  ['for (let i = 0; i < 10; i++) {\n  total += values[i]\n}\n', 20, 34],
  ['Größe und Übermut kommen vor dem Fall.', 8, 14],
  ['Быстрая коричневая лиса прыгает через ленивую собаку.', 12, 26],
  ['敏捷的棕色狐狸跳过了懒狗。', 9, 20],
  ['👍👍', 2, 8],
  [' '.repeat(80), 1, 12],
])('%j', (text, least, most) => {
  expect(estimateTokens(text)).toBeGreaterThanOrEqual(least)
  expect(estimateTokens(text)).toBeLessThanOrEqual(most)
})

test('a run without a space counts at most as 1,000 characters', () => {
  const run = 'Ab3+'.repeat(250_000)
  expect(estimateTokens(run.slice(0, 100_000))).toBeLessThan(1001)
  expect(estimateTokens('a'.repeat(100_000))).toBe(200)
})

test('of a long text, a part is read, and the whole is counted', () => {
  const text = 'The quick brown fox jumps over the lazy dog. '
  const one = estimateTokens(text)
  expect(estimateTokens(text.repeat(100_000)) / (one * 100_000)).toBeCloseTo(1, 1)
})
