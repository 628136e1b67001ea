import { expect, test } from 'vitest'
import { readThoughts, ThoughtSignatures } from './thoughts.ts'

test('one thought has its own signature', () => {
  const signatures = new ThoughtSignatures(undefined)
  signatures.thinking(0, 'Hm')
  expect(signatures.text).toBeUndefined()
  signatures.signature(0, 'a')
  signatures.signature(0, 'b')
  expect(signatures.text).toBe('ab')
  expect(readThoughts('Hm', 'ab')).toEqual([{ kind: 'thinking', text: 'Hm', signature: 'ab' }])
})

test('several thoughts are a list, which is read back', () => {
  const signatures = new ThoughtSignatures(undefined)
  signatures.thinking(0, 'One 😀')
  signatures.signature(0, 's')
  signatures.redacted(1, 'r')
  signatures.thinking(2, 'two')
  const text = '[{"length":6,"signature":"s"},{"redacted":"r"},{"length":3,"signature":""}]'
  expect(signatures.text).toBe(text)
  expect(readThoughts('One 😀two', text)).toEqual([
    { kind: 'thinking', text: 'One 😀', signature: 's' },
    { kind: 'redacted', data: 'r' },
    { kind: 'thinking', text: 'two', signature: '' },
  ])
})

test.each(['[', '[1]', '[{}]', '[{"length":-1}]', '{"length":1}'])('%s is no list of thoughts', (signature) => {
  expect(() => readThoughts('t', signature)).not.toThrow()
})

test('an answer with too many thoughts has no signature, in bounded memory', () => {
  const many = new ThoughtSignatures(undefined)
  for (let block = 0; block < 5000; block++) many.signature(block, 's')
  expect(many.text).toBeUndefined()
  const long = new ThoughtSignatures(undefined)
  for (let count = 0; count < 5; count++) long.signature(0, 's'.repeat(1024 * 1024))
  expect(long.text).toBeUndefined()
})
