import { expect, test } from 'vitest'
import { GuardedText } from '../texts/guarded-text.ts'
import { builtinRule } from './builtin-rules.ts'
import { SearchableText } from './searchable-text.ts'

test('only another text is a change', () => {
  const text = new SearchableText('123-45-6789')
  expect(text.search(builtinRule('Ssn'))).toBeDefined()
  text.text = '123-45-6789'
  expect(text.hasChanged).toBe(false)
  text.text = 'a'
  expect(text.hasChanged).toBe(true)
  expect(text.search(builtinRule('Ssn'))).toBeUndefined()
  text.text = '123-45-6789'
  expect(text.search(builtinRule('Ssn'))).toBeDefined()
})

test('a search is no change', () => {
  for (const unchanged of ['a', '1234567']) {
    const text = new SearchableText(unchanged)
    text.search(builtinRule('Ssn'))
    expect(text.hasChanged).toBe(false)
  }
})

test.each([false, true])('whether a text can change stays the same when it changes: %j', (canChange) => {
  const text = new GuardedText('1234567', canChange)
  text.search(builtinRule('Ssn'))
  text.text = 'a'
  text.search(builtinRule('Ssn'))
  expect(text.canChange).toBe(canChange)
})
