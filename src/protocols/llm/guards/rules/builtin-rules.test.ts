import { beforeAll, expect, test } from 'vitest'
import { runAtOnce } from '#base/in-slices.ts'
import type { Match, ScannedMatch } from '#base/pattern/text-scanner.ts'
import { searchBacktracking } from '#test/support/backtracking.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { BUILTINS as BUILTINS_TABLE, type Builtin, builtinRule } from './builtin-rules.ts'
import { loadPhoneNumbers } from './phone-numbers.ts'
import { mayHaveNumber } from './searchable-text.ts'
import { findMatches, maskWhole } from './testing.ts'
import type { TextRule } from './text-rule.ts'

beforeAll(loadPhoneNumbers)

const BUILTINS = ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] as const

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
  ['Email', 'a@b.c@d.e@f.g', '<EMAIL_ADDRESS>@<EMAIL_ADDRESS>'],
  ['Email', 'a@b.c_d@e.f', '<EMAIL_ADDRESS><EMAIL_ADDRESS>'],
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

/** Their characters, and some that only look like them. */
const CHARACTERS = [
  ...[
    ...'0123456789',
    ...'4411',
    ...' -.-. ',
    ...'aZ_+()@@\n',
    'é',
    '\u0661',
    '\u017f',
    '\u212a',
    '😀',
    '\ud83d',
    '\ude00',
  ],
  ...[
    '123-45-6789',
    '4111 1111 1111 1111',
    '1234-5678-9012-3456',
    '(212) 736-5000',
    '123 456 789',
    'a.b@c-d.e',
    '@c.d',
  ],
]

test('a whole text has the matches that the automaton finds in it', () => {
  const random = seededRandom(3)
  const matches = new Map<string, number>()
  const tries = sampleSize(1500, 20_000)
  for (let i = 0; i < tries; i++) {
    const text = Array.from({ length: random.below(30) }, () => random.pick(CHARACTERS)).join('')
    for (const name of BUILTINS) {
      const rule = builtinRule(name)
      const search = rule.search(text)
      const whole = search === undefined ? [] : runAtOnce(search)
      matches.set(name, (matches.get(name) ?? 0) + whole.length)
      expect(whole, `${name} in ${JSON.stringify(text)}`).toEqual(matchesByAutomaton(rule, text))
    }
  }
  for (const name of BUILTINS) expect(matches.get(name), name).toBeGreaterThan(tries / 12)
})

function matchesByAutomaton(rule: TextRule, text: string): Match[] {
  const scanner = rule.scan()
  scanner.push(text)
  scanner.finish()
  const found: Match[] = []
  for (const { start, end, continues } of scanner.takeMatches()) {
    found.push(continues ? { start: found.pop()!.start, end } : { start, end })
  }
  return found
}

test.each<[Builtin, text: string]>([
  ['Ssn', '123-45-6789 123456789 a 123-45-67890'],
  ['CreditCard', '4111-1111-1111-11111 4111-1111-1111-111111 1234 5678 9012 34567'],
  ['PhoneNumber', '(212) 736-5000 212-736-5000 416-967-1111 +44 20 7946 0958'],
  ['Email', `${'a'.repeat(70)}@b.c@d.e@f.g h@i.j`],
  ['CaSin', '123-456-789 123456789 a 123-456-7890'],
])('a match may lie on the end of what is searched in one step: %s', (name, text) => {
  const rule = builtinRule(name)
  const found = findMatches(rule, text)
  expect(found.length).toBeGreaterThan(1)
  for (let length = 32_768 - text.length - 2; length < 32_772; length++) {
    const moved = found.map(({ start, end }) => ({ start: start + length, end: end + length }))
    expect(findMatches(rule, '!'.repeat(length) + text), `${length}`).toEqual(moved)
  }
})

test('a domain may be longer than what is searched in one step', () => {
  const text = `@ a@b.c d@e.${'f'.repeat(100_000)} g@h.i`
  expect(masked('Email', text)).toBe('@ <EMAIL_ADDRESS> <EMAIL_ADDRESS> <EMAIL_ADDRESS>')
})

test('a long text is searched in steps', () => {
  for (const name of BUILTINS) {
    const search = builtinRule(name).search('1@'.repeat(500_000))!
    let steps = 0
    while (search.next().done !== true) steps++
    expect(steps).toBeGreaterThan(30)
  }
})

/** All short ones, and some longer ones. */
function repeatedParts(characters: readonly string[]): readonly string[] {
  const random = seededRandom(5)
  const some = Array.from({ length: sampleSize(40, 2000) }, () =>
    Array.from({ length: 3 + random.below(40) }, () => random.pick(characters)).join(''),
  )
  return [...characters, ...characters.flatMap((one) => characters.map((other) => one + other)), ...some]
}

test.each<[Builtin, characters: string]>([
  ['Ssn', '1- a'],
  ['CreditCard', '143- a'],
  ['PhoneNumber', '1+ .a'],
  ['Email', 'a.@ '],
  ['CaSin', '1- a'],
])('an engine that backtracks searches a text of twice the length for %s in twice the steps', (name, characters) => {
  for (const pattern of BUILTINS_TABLE[name].patterns) {
    const isPlain = typeof pattern === 'string'
    const source = isPlain ? pattern : pattern.character + pattern.after
    // It looks back over one class, which leaves no choice.
    const before = isPlain ? /$./g : new RegExp(`${pattern.before}{0,${pattern.atMost}}${pattern.character}`, 'g')
    const parts = repeatedParts([...characters])
    for (const [head, part] of ['', ...characters].flatMap((first) => parts.map((one) => [first, one] as const))) {
      const [once, twice] = [300, 600].map((length) => {
        const text = (head + part.repeat(length)).slice(0, length)
        const { steps, found } = searchBacktracking(source, text)
        expect(found).toEqual(text.match(new RegExp(source, 'g')) ?? [])
        return steps + (text.match(before) ?? []).join('').length
      })
      // The end of a text has less to try.
      expect(twice! / once!, head + part).toBeLessThan(2.3)
      expect(twice! / 600, head + part).toBeLessThan(30)
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
