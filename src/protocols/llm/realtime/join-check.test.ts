import { expect, test } from 'vitest'
import { JoinCheck } from './join-check.ts'
import { asks, opened } from './testing.ts'

function refused(pattern: string, before: string, text: string): boolean {
  const { exchange, session } = opened(asks([{ regex: { action: 'Mask', matches: [pattern] } }]))
  return new JoinCheck(session.guarded!.guards, exchange).refuse(before, text) !== undefined
}

test.each<[what: string, pattern: string, before: string, text: string, isRefused: boolean]>([
  ['a match across', 'forbidden', 'forb', 'idden', true],
  ['one before', 'forb', 'forb', 'idden', false],
  ['one behind, which is a mask', 'masked', 'a', '<masked>', false],
  ['the end of the text decides', 'forbidden\\b', 'forb', 'idden', true],
  ['the longest way before', 'a[^b]{255}b', `a${'x'.repeat(255)}`, 'b', true],
  ['a longer way', 'a[^b]{256}b', `a${'x'.repeat(256)}`, 'b', false],
  ['the longest way behind', 'ax{512}x{512}\\b', 'a', 'x'.repeat(1024), true],
  ['one that goes on behind it', 'ax{512}x{512}\\b', 'a', 'x'.repeat(1025), false],
  ['a longer way behind', 'ax{512}x{512}y', 'a', `${'x'.repeat(1024)}y`, false],
])('%s', (_, pattern, before, text, isRefused) => {
  expect(refused(pattern, before, text)).toBe(isRefused)
})
