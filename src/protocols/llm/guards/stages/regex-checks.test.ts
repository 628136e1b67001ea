import { expect, test } from 'vitest'
import { Pace, runAtOnce } from '#base/in-slices.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import type { RegexGuard } from '../guard.ts'
import { compileRules } from '../rules/compile-rules.ts'
import { replaceMatches } from '../rules/mask-text.ts'
import { findMatches, maskWhole, sharedRules } from '../rules/testing.ts'
import type { TextRule } from '../rules/text-rule.ts'
import { ArgumentsStage } from './arguments-stage.ts'
import { RegexChecks } from './regex-checks.ts'
import type { RuleObserver } from './regex-stage.ts'

interface Options {
  readonly matches: readonly string[]
  readonly isFixed?: boolean
}

/** Checks arguments, and those that come after their end, if they have several ends. @returns what leaves of each, or where they are refused */
function check(parts: readonly (readonly string[])[], { matches, isFixed = false }: Options) {
  const refused: Refusal[] = []
  const refusal = reject('prompt-guard-rejected')
  const rules = sharedRules({ matches })
  const guard: RegexGuard = { phase: 'response', index: 0, kind: 'regex', rejects: false, refusal, rules }
  const stream = { refuse: (why: Refusal) => void refused.push(why), noted() {} }
  const passed: string[] = []
  let begun: ArgumentsStage<undefined> | undefined
  for (const [at, part] of parts.entries()) {
    const before = begun?.checks instanceof RegexChecks ? begun.checks : undefined
    let left = ''
    let isOver = false
    const stage: ArgumentsStage<undefined> = new ArgumentsStage(
      {
        text: (_, text) => {
          left += text
        },
        finish: () => {
          isOver = true
        },
      },
      (checked) => new RegexChecks(checked, { guard, isFixed, stream }, before),
      begun,
    )
    for (const text of part) {
      stage.text(undefined, text)
      if (refused.length > 0) return `refused at ${text}`
    }
    stage.finish()
    if (refused.length > 0) return 'refused at the end'
    expect(isOver).toBe(true)
    passed[at] = left
    begun = stage
  }
  return passed.join('|')
}

const SECRET: Options = { matches: ['secret-[0-9]+'] }

test.each<[options: Options, texts: string[], outcome: string]>([
  [SECRET, ['{"a":"secret-1","b":"', 'secret-', '22"', '}'], '{"a":"<masked>","b":"<masked>"}'],
  [SECRET, ['["secret-","1"]'], '["secret-","1"]'],
  [SECRET, ['{"secret-1":1}'], 'refused at {"secret-1":1}'],
  [SECRET, ['{"a":"', 'secret-1 ', '"}'], '{"a":"<masked> "}'],
  [{ ...SECRET, isFixed: true }, ['{"a":"', 'secret-1 ', '"}'], 'refused at secret-1 '],
  [{ ...SECRET, isFixed: true }, ['plain', ' secret-1 '], 'refused at  secret-1 '],
  [SECRET, ['plain secret-', '1 and'], 'plain <masked> and'],
  [SECRET, ['{"a":1,', 'secret-1'], '{"a":1,<masked>'],
  // A pattern for the beginning of a text matches the beginning of each string, and not behind JSON.
  [{ matches: ['^word'] }, ['["word","a word"] word'], '["<masked>","a word"] word'],
  [{ matches: ['^word'] }, ['word'], '<masked>'],
  [{ matches: ['^\\s*word'] }, [' ', 'word'], '<masked>'],
  [{ matches: ['^\\["a".*word'] }, ['["a",', 'word'], 'refused at word'],
  [{ matches: ['word$'] }, ['["word","word a"]'], '["<masked>","word a"]'],
  // A half of a character that no other half follows is a character, wherever it is cut.
  [{ matches: ['.x'] }, ['"b', '\\ud83d\\ud8', '3dx"'], '"b\\ud83d<masked>"'],
  [{ matches: ['.b.'] }, ['"b\\u0062\\ud83d\\ud83d'], '"<masked>\\ud83d'],
  [{ matches: ['.b.'] }, ['"b\\u0062\\ud83d\\ud8', '3d'], '"<masked>\\ud83d'],
  [{ matches: ['.b.'] }, ['"b\\u0062', '\\ud83d\\', 'ud83d\\ud8', '3d\\q'], '"<masked>\\ud83d\\ud83d\\q'],
])('under %j, %j become %s', (options, texts, outcome) => {
  expect(check([texts], options)).toBe(outcome)
  if (outcome.startsWith('refused')) return
  expect(check([[...texts.join('')]], options)).toBe(outcome)
})

test.each<[matches: string[], text: string, outcome: string]>([
  // The match is certain, and could be over, before the text is no JSON.
  [['(?s)c.{0,40}"'], '"ca"-" ', 'refused'],
  [['c+'], '["cc" ccd', '["<masked>" <masked>d'],
  // It is over where the text is no JSON, whether another character follows or not.
  [['"1+'], '["","1","a":11', '["","1","a":11'],
  [['1"(?:x y)?'], '["1"x z', '["1"x z'],
  [['1"(?:x y)?'], '["1"x y', 'refused'],
  [['a1",?.?'], '["a1",x', 'refused'],
  // The end of the JSON is not the end of the text.
  [['"$', '"x'], '["b"x', 'refused'],
  [['"$', '"x'], '["b"y', '["b"y'],
  [['b".{0,9}z|b"'], '["b"x q', '["b"x q'],
  // What is masked of a string does not change how the rest of it is written.
  [['b', '\\\\/'], '["a\\/b" \\/', '["a\\/<masked>" <masked>'],
  [['b', 'a.*x'], '["a\\/b" x', 'refused'],
  [['b', '(?s)a.{6,9}x'], '["a\\u0041b",x', 'refused'],
  [['b', '/', 'a.{2}<m'], '["a\\/b\\/" x', '["a<masked><masked><masked>" x'],
])('under %j, %j becomes %j in whatever pieces it comes', (matches, text, outcome) => {
  for (let longest = 1; longest <= text.length; longest++) {
    for (let seed = 0; seed < 4; seed++) {
      const found = check([seededRandom(seed).pieces(text, longest)], { matches })
      expect(found.startsWith('refused') ? 'refused' : found).toBe(outcome)
    }
  }
})

/** A match that begins where `length` characters of JSON have left. */
const SPAN: Options = { matches: ['x(?s:.)*secret'] }
const jsonBefore = (length: number) => `["x${' '.repeat(length - 3)}",`

test.each([6, 100, 256, 257, 5000])('what is no JSON is checked with %d characters before it', (length) => {
  const before = jsonBefore(length)
  for (const texts of [[before, 'secret'], [`${before}secret`], [...before, 'secret'], [before, ...'secret']]) {
    expect(check([texts], SPAN)).toMatch(/^refused at (?:.*t|the end)$/)
    expect(check([texts], { matches: ['secret'] })).toBe(`${before}<masked>`)
  }
})

/** What rules make of the end of a text of which the beginning has left. Undefined: a match begins in that, and goes on behind it. */
function maskBehind(rules: readonly TextRule[], left: string, text: string): string | undefined {
  let [before, behind] = [left, text]
  for (const rule of rules) {
    const matches = findMatches(rule, before + behind)
    const at = before.length
    if (matches.some(({ start, end }) => start < at && end > at)) return undefined
    const mask = (from: number, to: number) => {
      const own = matches.filter(({ start, end }) => start >= from && end <= to)
      const moved = own.map(({ start, end }) => ({ start: start - from, end: end - from }))
      return runAtOnce(replaceMatches((before + behind).slice(from, to), moved, rule.placeholder, new Pace()))
    }
    ;[before, behind] = [mask(0, at), mask(at, at + behind.length)]
  }
  return behind
}

test('what is no JSON is masked as the end of a text that begins with the JSON, or refused', () => {
  const random = seededRandom(5)
  const patterns = 'a$|b a" "$ "b [ab]"[abx] b+ (?:a|>)" x.{0,2}a "[^1]*1 \\Ba \\bb ^b a.*?x <masked>b d>"'.split(' ')
  const text = (most: number) => Array.from({ length: random.below(most) }, () => random.pick([...'aabbx1 '])).join('')
  const found = { refused: 0, masked: 0 }
  for (let each = 0; each < sampleSize(500, 20_000); each++) {
    const matches = Array.from({ length: 1 + random.below(3) }, () => random.pick(patterns))
    const rules = sharedRules({ matches })
    const string = text(6)
    const rest = random.pick([...'abx']) + text(8)
    const json = `["${maskWhole(rules, string)}"`
    const masked = maskBehind(rules, json, rest)
    const outcome = check([random.pieces(`["${string}"${rest}`, 5)], { matches })
    const about = JSON.stringify({ each, matches, string, rest })
    if (masked === undefined) expect(outcome, about).toMatch(/^refused/)
    else expect(outcome, about).toBe(json + masked)
    if (masked === undefined) found.refused++
    else if (masked !== rest) found.masked++
  }
  expect(found.refused).toBeGreaterThan(50)
  expect(found.masked).toBeGreaterThan(50)
}, 60_000)

test.each([
  ['^x', false],
  ['\\Ax', false],
  ['\\bx', true],
  ['\\Bx', true],
  ['.\\["x', false],
  ['x', true],
])('what is before it is a text: %s matches there: %s', (begin, matches) => {
  const options = { matches: [`${begin}(?s:.)*secret`] }
  for (const json of [`["${'x'.repeat(5000)}",`, `["x${' '.repeat(300)}yx${'y'.repeat(253)}",`]) {
    for (const texts of [
      [json, 'secret'],
      [...json, 'secret'],
    ]) {
      expect(check([texts], options).startsWith('refused')).toBe(matches)
    }
  }
})

test.each<[what: string, matches: string[], texts: string[], passed: unknown[]]>([
  [
    'has masked space before JSON',
    ['x', ' ', '\\s'],
    [' ', '\t', '{}'],
    [['Mask', 'matches[1]'], '<masked>', ['Mask', 'matches[1]', 'matches[2]'], '<masked>'],
  ],
  ['matches what has left of an escape', ['zz', 'u00', 'x'], ['["a\\u00', 'zz'], ['["a\\u00']],
  ['matches that and more', ['x', '00zz', 'q'], ['["a\\u00', 'zzq'], ['["a\\u00']],
])('the record names the rule that %s', (_, matches, texts, passed) => {
  const rules = compileRules({ matches }, () => {})
  const refusal = reject('prompt-guard-rejected')
  const guard: RegexGuard = { phase: 'response', index: 0, kind: 'regex', rejects: false, refusal, rules }
  const told: unknown[] = []
  const stream: RuleObserver = {
    refuse: ({ detail }) => void told.push(detail),
    noted: (_, verdict, found) => void told.push([verdict, ...found.map(({ label }) => label)]),
  }
  const out = { text: (_: undefined, text: string) => void told.push(text), finish() {} }
  let begun: ArgumentsStage<undefined> | undefined
  for (const text of texts) {
    const before = begun?.checks instanceof RegexChecks ? begun.checks : undefined
    const options = { guard, isFixed: false, stream }
    begun = new ArgumentsStage<undefined>(out, (checked) => new RegexChecks(checked, options, before), begun)
    begun.text(undefined, text)
    begun.finish()
  }
  const detail = 'promptGuard.response[0]: regex matches[1]: the match is in a text that has begun to leave'
  expect(told).toEqual([...passed, ['Reject', 'matches[1]'], detail])
})

test.each<[matches: string, parts: string[][], outcome: string]>([
  ['secret-[0-9]+', [['["a secr'], ['et-1"]']], 'refused at et-1"]'],
  ['secret-[0-9]+', [['["a '], ['secret-1"]']], '["a |<masked>"]'],
  // The mask would leave half of a character in the string.
  ['e-[0-9]+', [['["a \\u00'], ['65-1"]']], 'refused at 65-1"]'],
  ['e-[0-9]+', [['["a \\u00'], ['65-a"]']], '["a \\u00|65-a"]'],
  ['b.', [['["b\\ud83d\\u'], ['d8', '3d"']], 'refused at 3d"'],
  ['c.', [['["b\\ud83d\\u'], ['d8', '3d"']], '["b\\ud83d\\u|d83d"'],
  ['secret-[0-9]+', [['{"a'], ['secret-1"']], 'refused at secret-1"'],
  ['secret-[0-9]+', [['plain secr'], ['et-1 ']], 'refused at et-1 '],
  ['secret-[0-9]+', [['plain secr'], [], ['et-1 ']], 'refused at et-1 '],
  ['secret-[0-9]+', [['plain '], ['secret-1 '], ['secret-2']], 'plain |<masked> |<masked>'],
  ['^rd', [['["wo'], ['rd"]']], '["wo|rd"]'],
  ['^rd', [['wo'], ['rd']], 'wo|rd'],
  ['^rd', [['["wo'], [], ['rd"]']], '["wo||rd"]'],
  // Space before JSON is not masked.
  ['\\s', [[' '], ['\n', '{}']], 'refused at {}'],
  ['\\s', [[' '], ['\n'], ['', '["a"', ']']], 'refused at ["a"'],
  ['\\s', [[' '], ['a ']], '<masked>|a<masked>'],
  ['\\S', [[' '], ['{}']], ' |{}'],
  // The beginning of what breaks has left without a check.
  ['u00', [['["a\\u00'], ['zz']], 'refused at zz'],
  ['00zz', [['["a\\u00'], ['zz']], 'refused at zz'],
  ['a.u00z', [['["a\\u00'], ['zz']], 'refused at zz'],
  ['zz', [['["a\\u00'], ['zz']], '["a\\u00|<masked>'],
  ['z1', [['["a\\u00'], ['zz'], ['z1']], '["a\\u00|zz|<masked>'],
  ['u[0-9]+z', [['["a\\u0'], ['0'], ['zz']], 'refused at zz'],
  ['12', [['[12'], ['x']], 'refused at x'],
  ['12', [['[1'], ['2'], [',"12"]']], '[1|2|,"<masked>"]'],
  ['\\[1x', [['[1'], ['x']], 'refused at x'],
  ['x', [['[1'], ['x']], '[1|<masked>'],
  ['d8', [['["\\ud83d\\ud8'], ['3d\\q']], 'refused at 3d\\q'],
  ['q', [['["\\ud83d\\ud8'], ['3d\\q']], '["\\ud83d\\ud8|3d\\<masked>'],
  ['x(?s:.)*secret', [['["x",'], [' '], ['secret']], 'refused at secret'],
  ['x(?s:.)*secret', [['["x",', 'plain'], ['secret']], 'refused at secret'],
  ['x.{300}secret', [[`["x${' '.repeat(297)}" ,`], ['secret']], 'refused at secret'],
  ['a" x', [[' '], ['["a" x']], 'refused at ["a" x'],
  ['b".{0,9}z|b"', [['["b"x1'], [' q']], '["b"x1| q'],
  ['"b.{0,50}z|x1', [['["b" x1'], [' q']], '["b" <masked>| q'],
])('for %s, text that comes behind the end is checked with what has left: %j', (matches, parts, outcome) => {
  expect(check(parts, { matches: [matches] })).toBe(outcome)
})
