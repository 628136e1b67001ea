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
  ['one whose share of the text is masked alone, too', 'ab|b', 'a', 'b', true],
  ['one that goes on, whose share of the text is masked alone, too', 'a+', 'a', 'a', true],
  ['a line that begins there', '^xx', 'x', 'x', true],
  ['no line that begins at the edge', '^x{256}b', 'x'.repeat(257), 'b', false],
  ['the longest way behind', 'ax{512}x{512}\\b', 'a', 'x'.repeat(1024), true],
  ['one that goes on behind it', 'ax{512}x{512}\\b', 'a', 'x'.repeat(1025), false],
  ['a longer way behind', 'ax{512}x{512}y', 'a', `${'x'.repeat(1024)}y`, false],
])('%s', (_, pattern, before, text, isRefused) => {
  expect(refused(pattern, before, text)).toBe(isRefused)
})

test.each<[what: string, before: string, text: string, rule: string]>([
  ['the one whose match has begun', 'a forb', 'idden 12', 'matches[2]'],
  ['the one that masks more than in the text alone', 'x', 'foo 12', 'matches[1]'],
  ['the one that the end decides about', '12 x', '12', 'matches[3]'],
  ['the one whose match begins in what an earlier rule waits for', 'forb', 'xy', 'matches[4]'],
])('the record names the rule that matches across: %s', (_, before, text, rule) => {
  const matches = ['[0-9]+', '\\Bfoo', 'forbidden', 'x<masked>$', 'forbxy']
  const { exchange, session } = opened(asks([{ regex: { action: 'Mask', matches } }]))
  const detail = 'the match is in a text that has begun to leave'
  expect(new JoinCheck(session.guarded!.guards, exchange).refuse(before, text)).toMatchObject({
    detail: `promptGuard.request[0]: regex ${rule}: ${detail}`,
  })
  expect(exchange.guardChecks).toMatchObject([{ verdict: 'Reject', rule, placeholder: '<masked>', detail }])
})

test('a guard that rejects each match needs no other reason', () => {
  const { exchange, session } = opened(asks([{ regex: { action: 'Reject', matches: ['forbidden'] } }]))
  expect(new JoinCheck(session.guarded!.guards, exchange).refuse('forb', 'idden')?.detail).toBe(
    'promptGuard.request[0]: regex matches[0]',
  )
  expect(exchange.guardChecks).toMatchObject([{ verdict: 'Reject', rule: 'matches[0]', detail: undefined }])
})
