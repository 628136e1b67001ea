import { expect, test } from 'vitest'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { refused, type Setup, sent } from '#test/support/prepare-llm.ts'
import { maskJoined } from '../services/mask-joined.ts'
import { ManyTextsBuilder } from './many-texts.ts'

const COUNT = 9000
/** Matches begin and end a string, are all of it, and do not go on in the next one. */
const WORDS = [
  'a bad',
  '',
  'bad',
  'badly and bad',
  'ba',
  'd',
  'a\n"b" bad',
  'mail jane@example.org',
  '123-45-6789',
  '123-45',
  '-6789 é',
]
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/bad|a\n"/g, '<masked>'],
  [/jane@example\.org/g, '<EMAIL_ADDRESS>'],
  [/123-45-6789/g, '<SSN>'],
]
const ai: Setup['ai'] = {
  promptGuard: { request: [{ regex: { action: 'Mask', matches: ['bad|a\\n"'], builtins: ['Email', 'Ssn'] } }] },
}

/** The arguments of calls; one letter is written as an escape, which only a text without a mask keeps. */
const bodyWith = (...calls: readonly unknown[]) => {
  const written = calls.map((values) => JSON.stringify(values).replaceAll('é', '\\u00e9'))
  const tool_calls = written.map((json) => ({ id: 'c', type: 'function', function: { name: 'f', arguments: json } }))
  return JSON.stringify({ model: 'm', messages: [{ role: 'assistant', content: null, tool_calls }] })
}
const masked = (text: string) => MASKS.reduce((now, [pattern, by]) => now.replace(pattern, by), text)

test('very many strings in the arguments of a call are masked one by one', () => {
  const texts = Array.from({ length: COUNT }, (_, index) => WORDS[index % WORDS.length]!)
  expect(sent(bodyWith([texts, { note: 'bad' }]), { ai }).text).toBe(
    bodyWith([texts.map(masked), { note: '<masked>' }]),
  )
  const clean = bodyWith(texts.map((text) => (masked(text) === text ? text : '')))
  expect(sent(clean, { ai }).text).toBe(clean)
})

const members = (value: string, bad?: number) =>
  Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [index === bad ? 'bad' : `n${index}`, value]))

test.each([0, COUNT - 1])('a match in the name of a member among very many rejects: %i', (at) => {
  expect(refused(bodyWith(members('x bad', at)), { ai }).code).toBe('prompt-guard-rejected')
})

test('a match in the values of very many members is masked', () => {
  expect(sent(bodyWith(members('x bad')), { ai }).text).toBe(bodyWith(members('x <masked>')))
})

test('very many strings: a guard that rejects finds a match in one of them, and none across two, of one call or of two', () => {
  const texts = Array.from({ length: COUNT }, () => 'fo')
  const rejecting: Setup['ai'] = { promptGuard: { request: [{ regex: { action: 'Reject', matches: ['fo\\s?fo'] } }] } }
  for (const calls of [[texts], [texts, texts]]) {
    expect(sent(bodyWith(...calls), { ai: rejecting }).text).toBe(bodyWith(...calls))
  }
  expect(refused(bodyWith([...texts, 'fofo']), { ai: rejecting }).code).toBe('prompt-guard-rejected')
})

test.each([1, 1023, 1024, 1025, 20_000])('%i strings are one, in their order', (count) => {
  const builder = new ManyTextsBuilder()
  const texts = Array.from({ length: count }, (_, index) => `${index}`)
  for (const text of texts) builder.add(text, true)
  expect(builder.build().text === texts.join('\n')).toBe(true)
})

test('a mask of a service in very many strings rejects; without a difference they pass', () => {
  const builder = new ManyTextsBuilder()
  for (const text of ['a', '', 'b']) builder.add(text, true)
  const many = builder.build()
  expect([many.text, many.length]).toEqual(['a\n\nb', 2])
  expect(runAtOnce(maskJoined([many], 'a\n\nb', new Pace()))).toBe(true)
  expect(runAtOnce(maskJoined([many], 'a\n\n*', new Pace()))).toBe(false)
})
