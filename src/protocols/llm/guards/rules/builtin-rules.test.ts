import { beforeAll, expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { ScannedMatch } from '#base/pattern/text-scanner.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { builtinRule } from './builtin-rules.ts'
import { loadPhoneNumbers } from './phone-numbers.ts'
import { mayHaveNumber } from './searchable-text.ts'
import { findMatches, maskWhole } from './testing.ts'

beforeAll(loadPhoneNumbers)

const BUILTINS = ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] as const
type Builtin = (typeof BUILTINS)[number]

function masked(name: Builtin, text: string): string {
  const rule = builtinRule(name)
  return maskWhole([rule], text)
}

test.each<[Builtin, text: string, masked: string]>([
  ['Ssn', 'my 123-45-6789.', 'my <SSN>.'],
  ['Ssn', '12345-6789 123-456789 123456789 123 45 6789 123.45.6789', '<SSN> <SSN> <SSN> <SSN> <SSN>'],
  ['Ssn', '1234567890 a123-45-6789 12-345-6789', '1234567890 a123-45-6789 12-345-6789'],
  ['CreditCard', 'card 4111 1111 1111 1111!', 'card <CREDIT_CARD>!'],
  [
    'CreditCard',
    '5500-0000-0000-0004 6011000990139424 3400 0000 0000 009',
    '<CREDIT_CARD> <CREDIT_CARD> <CREDIT_CARD>',
  ],
  ['CreditCard', '1234 5678 9012 3456', '<CREDIT_CARD>'],
  ['CreditCard', '5600 0000 0000 0004 7111', '5600 0000 0000 0004 7111'],
  // The second pattern begins within a match of the first.
  ['CreditCard', '4111 1111 1111 1111 1111', '<CREDIT_CARD>'],
  ['PhoneNumber', 'call (212) 736-5000 now', 'call <PHONE_NUMBER> now'],
  ['PhoneNumber', '+44 20 7946 0958, +49 30 901820', '<PHONE_NUMBER>, <PHONE_NUMBER>'],
  ['PhoneNumber', '052-123-4567 (11) 98765-4321', '<PHONE_NUMBER> <PHONE_NUMBER>'],
  ['PhoneNumber', '098765 43210', '<PHONE_NUMBER>'],
  ['PhoneNumber', '212-736-5000 416-967-1111', '<PHONE_NUMBER> <PHONE_NUMBER>'],
  ['PhoneNumber', 'from 10.0.0.1 at 1,250 or 4111111111111111', 'from 10.0.0.1 at 1,250 or 4111111111111111'],
  // Not within a longer number, though its end alone would be one.
  ['PhoneNumber', `${'9'.repeat(31)}2127365000`, `${'9'.repeat(31)}2127365000`],
  // A number of each country, as people there write it.
  ['PhoneNumber', '020 7946 0958', '<PHONE_NUMBER>'],
  ['PhoneNumber', '03-531-6789', '<PHONE_NUMBER>'],
  ['PhoneNumber', '030 90182012', '<PHONE_NUMBER>'],
  ['PhoneNumber', '(11) 98765-4321', '<PHONE_NUMBER>'],
  ['PhoneNumber', '+33 1 42 68 53 00, +33 1 42', '<PHONE_NUMBER>, +33 1 42'],
  // A number behind a digit and a sign is one; in a longer number it is none.
  ['PhoneNumber', '5+49 30 901820', '5+<PHONE_NUMBER>'],
  ['PhoneNumber', '1.2127365000', '<PHONE_NUMBER>'],
  ['PhoneNumber', '+1 2 3 4 5', '+1 2 3 4 5'],
  ['Email', `a@${'b'.repeat(63)}.c`, '<EMAIL_ADDRESS>'],
  ['Email', `a@${'b'.repeat(64)}.c`, `a@${'b'.repeat(64)}.c`],
  ['Email', 'write to ann.b+c@mail.example.com.', 'write to <EMAIL_ADDRESS>'],
  ['Email', 'a@b c@d.e', 'a@b <EMAIL_ADDRESS>'],
  ['Email', `${'x'.repeat(70)}@example.com`, 'xxxxxx<EMAIL_ADDRESS>'],
  ['CaSin', '123-456-789 123 456 789 123456789 1234-567-89', '<CA_SIN> <CA_SIN> <CA_SIN> 1234-567-89'],
])('%s in %j', (name, text, expected) => {
  expect(masked(name, text)).toBe(expected)
})

test('built-in rules are named in records, and shared', () => {
  expect(BUILTINS.map((name) => builtinRule(name).label)).toEqual([...BUILTINS])
  for (const name of BUILTINS) expect(builtinRule(name)).toBe(builtinRule(name))
  expect(loadPhoneNumbers()).toBe(loadPhoneNumbers())
})

test('ordinary text flows word by word', () => {
  const words = 'hello world, it costs 1,250 dollars on March 12 at 10:30; see chapter 4.2 or ask Ann-Marie_77 '.split(
    /(?<= )/,
  )
  for (const name of BUILTINS) {
    const scanner = builtinRule(name).scan()
    let length = 0
    for (const word of words) {
      scanner.push(word)
      length += word.length
      expect(length - scanner.settled, `${name} after ${word}`).toBeLessThan(16)
    }
    expect(scanner.takeMatches()).toEqual([])
  }
})

test('no text makes a built-in rule hold more than its longest match', () => {
  const parts = ['a', '1', '4', '1 ', '4-', 'a.', 'a@', '+1 (', '123-45-', '4111 ', '212-736-5000 ', 'é', '😀']
  for (const name of BUILTINS) {
    for (const part of parts) {
      const scanner = builtinRule(name).scan()
      let length = 0
      let held = 0
      for (let i = 0; i < 60; i++) {
        scanner.push(part)
        length += part.length
        held = Math.max(held, length - scanner.settled)
      }
      scanner.finish()
      expect(held, `${name} in ${part}`).toBeLessThanOrEqual(name === 'Email' ? 130 : 33)
      expect(scanner.overran).toBe(false)
    }
  }
})

test('matches do not depend on where a text is split', () => {
  const texts: Record<Builtin, string> = {
    Ssn: 'a 123-45-6789, 12345-6789b 123456789',
    CreditCard: '4111 1111 1111 1111 1111 x 34000000000000',
    PhoneNumber: 'é(212) 736-5000 416-967-1111 5+49 30 901820.',
    Email: 'to ann@example.org😀b@c.d.e x@y',
    CaSin: '123-456-789-012 123456789',
  }
  for (const name of BUILTINS) {
    const text = texts[name]
    const rule = builtinRule(name)
    const whole = findMatches(rule, text)
    expect(whole.length).toBeGreaterThan(0)
    for (let first = 0; first <= text.length; first++) {
      for (const second of [first + 1, first + 3, text.length]) {
        const scanner = rule.scan()
        const found: ScannedMatch[] = []
        for (const piece of [text.slice(0, first), text.slice(first, second), text.slice(second)]) {
          scanner.push(piece)
          found.push(...scanner.takeMatches())
        }
        scanner.finish()
        found.push(...scanner.takeMatches())
        const starts = found.filter(({ continues }) => !continues).map(({ start }) => start)
        expect(starts).toEqual(whole.map(({ start }) => start))
        const isMasked = (matches: readonly { start: number; end: number }[]) =>
          Array.from(text, (_, at) => matches.some(({ start, end }) => at >= start && at < end))
        expect(isMasked(found)).toEqual(isMasked(whole))
      }
    }
  }
})

test('the work of a built-in rule grows with the text only', () => {
  const parts = ['1', 'a.', '4-', 'a@']
  for (const name of ['Ssn', 'CreditCard', 'Email', 'CaSin'] as const) {
    for (const part of parts) {
      const steps = [1, 2].map((times) => {
        const search = builtinRule(name).search(part.repeat((times * 200_000) / part.length))
        let count = 0
        while (search?.next().done === false) count++
        return count
      })
      expect(steps[1], `${name} in ${part}`).toBeLessThanOrEqual(2 * (steps[0]! + 1))
    }
  }
})

test('a numeric rule finds nothing where no number may be', () => {
  const random = seededRandom(7)
  const numeric = BUILTINS.map(builtinRule).filter(({ isNumeric }) => isNumeric)
  expect(numeric).toHaveLength(4)
  const found = { matches: 0, skipped: 0 }
  for (let i = 0; i < 3000; i++) {
    const text = Array.from({ length: random.below(40) }, () => random.pick([...'0123456789456789 -.()+x'])).join('')
    const matches = numeric.flatMap((rule) => runAtOnce(rule.search(text)!))
    if (!mayHaveNumber(text)) found.skipped++
    else if (matches.length > 0) found.matches++
    if (matches.length > 0) expect(mayHaveNumber(text), text).toBe(true)
  }
  expect(found.matches).toBeGreaterThan(500)
  expect(found.skipped).toBeGreaterThan(500)
  expect(mayHaveNumber('x'.repeat(262_145))).toBe(true)
  expect(mayHaveNumber('x'.repeat(262_144))).toBe(false)
})
