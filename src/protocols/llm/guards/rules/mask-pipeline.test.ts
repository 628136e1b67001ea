import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import type { TextScanner } from '#base/pattern/text-scanner.ts'
import { randomPattern, randomText } from '#test/support/random-pattern.ts'
import { type SeededRandom, seededRandom } from '#test/support/seeded-random.ts'
import { compileRules } from './compile-rules.ts'
import { MaskPipeline } from './mask-pipeline.ts'
import { loadPhoneNumbers } from './phone-numbers.ts'
import { findMatches, maskWhole } from './testing.ts'
import type { TextRule } from './text-rule.ts'

beforeAll(loadPhoneNumbers)

const BUILTINS = ['Ssn', 'CreditCard', 'PhoneNumber', 'Email', 'CaSin'] as const

/** Patterns as operators write them, and some that are hard to split, each with a text that it matches. */
const PATTERNS: readonly [pattern: string, match: string][] = [
  ['sk-[A-Za-z0-9]{8,}', 'sk-abcDEF123456'],
  ['AKIA[0-9A-Z]{16}', 'AKIAABCDEFGHIJKLMNOP'],
  ['ghp_[A-Za-z0-9]{4,36}', 'ghp_abcd1234'],
  ['eyJ[\\w-]+\\.[\\w-]+\\.[\\w-]*', 'eyJh.eyJz.c2ln'],
  ['-----BEGIN [A-Z ]+-----', '-----BEGIN RSA PRIVATE KEY-----'],
  ['(?i)password\\s*[:=]\\s*\\S+', 'PassWord : hunter2'],
  ['(?i)\\b(?:secret|confidential)\\b', 'Confidential'],
  ['(?i)project (?:falcon|condor)', 'Project FALCON'],
  ['\\b\\d{1,3}(?:\\.\\d{1,3}){3}\\b', '192.168.100.200'],
  ['\\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\\b', '0a1b2c3d-0000-1111-2222-0123456789ab'],
  ['https?://[^\\s]+', 'https://a.example/b?c'],
  ['[A-Z]{2}\\d{2}(?: ?\\w{4}){3,7}', 'DE89 3704 0044 0532'],
  ['\\b[A-Z]{1,2}-\\d{4,6}\\b', 'AB-12345'],
  ['\\$\\d+(?:,\\d{3})*(?:\\.\\d\\d)?', '$1,234,567.89'],
  ['(?:19|20)\\d\\d-[01]\\d-[0-3]\\d', '1999-12-31'],
  ['(?i)ignore (?:all )?previous instructions', 'Ignore all previous instructions'],
  ['"[^"]*"', '"quoted text"'],
  ["'.*?'", "'a' and 'b'"],
  ['\\{\\{.*?\\}\\}', '{{ name }}'],
  ['<[^>]+>', '<b class=x>'],
  ['(?s)/\\*.*?\\*/', '/* a\nb */'],
  ['(?m)^#.*$', '# a line\n'],
  ['(?m)^\\s*$', '\n   \n'],
  ['(?m)[ \\t]+$', 'x  \n'],
  ['\\A\\w+', 'first'],
  ['\\w+\\z', 'last'],
  ['^abc', 'abc'],
  ['xyz$', 'xyz'],
  ['a+', 'aaaa'],
  ['a+?', 'aaa'],
  ['a*b', 'aaab'],
  ['a*', 'aa'],
  ['(?:ab)+', 'ababab'],
  ['(?:ab|a)(?:c|bcd)', 'abcd'],
  ['abcd|bc|c', 'abcx abcd'],
  ['a(?:.*END)?', 'a END'],
  ['aab|ab|b', 'aaab'],
  ['\\bfoo\\B', 'foobar'],
  ['\\Boo\\b', 'foo'],
  ['[^a-z ]+', 'ABC123'],
  ['\\pL+', 'Größe'],
  ['\\p{Greek}{2,4}', 'αβγδε'],
  ['(?i)straße', 'STRAßE'],
  ['(?i)k\\d', '\u212a1'],
  ['é+', 'éé'],
  ['e\\x{301}', 'e\u0301'],
  ['😀+', '😀😀'],
  ['[😀-😂]{2}', '😀😂'],
  ['.😀.', 'a😀b'],
  ['.{5}', '12345'],
  ['.{2,9}x', 'abcdefx'],
  ['\\d{4} ?\\d{4}', '1234 5678'],
  ['(\\w)(\\w)?-', 'ab-c-'],
  ['<masked>', '<masked>'],
  ['masked> <', '<masked> <masked>'],
]

const ALL = compileRules(
  { matches: PATTERNS.map(([pattern]) => pattern), builtins: [...BUILTINS] },
  (path, message) => {
    throw new Error(`${path}: ${message}`)
  },
)

const BUILTIN_TEXTS = ['123-45-6789', '4111 1111 1111 1111 1111', '(212) 736-5000', 'ann.b@example.com', '123-456-789']

/** Undefined: more text was needed than may be held. */
function maskPieces(rules: readonly TextRule[], pieces: readonly string[]): string | undefined {
  const pipeline = new MaskPipeline(rules)
  let taken = 0
  let out = ''
  const take = () => {
    for (const { text, changed } of pipeline.take()) {
      out += text
      if (changed !== (text !== pieces[taken++])) throw new Error('wrong mark')
    }
  }
  for (const piece of pieces) {
    pipeline.push(piece)
    take()
  }
  pipeline.finish()
  take()
  if (pipeline.overrunBy !== undefined) return undefined
  if (taken !== pieces.length) throw new Error('pieces are missing')
  return out
}

function compare(rules: readonly TextRule[], pieces: readonly string[]): void {
  const text = pieces.join('')
  const masked = maskPieces(rules, pieces)
  if (masked === maskWhole(rules, text)) return
  expect(masked, `${rules.map(({ label }) => label)}: ${JSON.stringify(pieces)}`).toBe(maskWhole(rules, text))
}

test('each rule masks its text the same at every split', () => {
  const texts = [...PATTERNS.map(([, match]) => match), ...BUILTIN_TEXTS]
  texts.forEach((match, index) => {
    const rule = ALL[index]!
    expect(findMatches(rule, match).length, rule.label).toBeGreaterThan(0)
    for (const text of [match, `ab ${match} é1`, `😀${match}${match}`]) {
      for (let at = 0; at <= text.length; at++) compare([rule], [text.slice(0, at), text.slice(at)])
      compare([rule], text.split(''))
    }
  })
})

test('a match is masked at every position of a text', () => {
  const text = 'The fox, a 12 é😀 (see x.y) _-'
  ;[...PATTERNS.map(([, match]) => match), ...BUILTIN_TEXTS].forEach((match, index) => {
    for (let at = 0; at <= text.length; at += 1) {
      const whole = text.slice(0, at) + match + text.slice(at)
      compare(
        [ALL[index]!],
        [whole.slice(0, at + 1), whole.slice(at + 1, at + match.length), whole.slice(at + match.length)],
      )
    }
  })
})

function randomRules(random: SeededRandom): TextRule[] {
  const matches = Array.from({ length: 1 + random.below(3) }, () => randomPattern(random))
  return [...compileRules({ matches }, () => {}), ...(random.below(3) === 0 ? [random.pick(ALL)] : [])]
}

test('any rules mask any text the same in any pieces', () => {
  const random = seededRandom(8)
  let changed = 0
  for (let round = 0; round < 300; round++) {
    const rules = randomRules(random)
    for (let i = 0; i < 3; i++) {
      const text = `${randomText(random, 20)}${random.pick(BUILTIN_TEXTS)}${randomText(random, 9)}`
      compare(rules, random.pieces(text, 6))
      if (maskWhole(rules, text) !== text) changed++
    }
  }
  expect(changed).toBeGreaterThan(250)
})

test('all rules together mask any text the same in any pieces', () => {
  const random = seededRandom(3)
  for (let round = 0; round < 40; round++) {
    const words = Array.from({ length: 8 }, () =>
      random.pick([...PATTERNS.map(([, match]) => match), ...BUILTIN_TEXTS]),
    )
    compare(ALL.slice(random.below(40)), random.pieces(words.join(random.pick([' ', '', '\n'])), 12))
  }
})

test('a match over several pieces leaves its placeholder where it begins', () => {
  const rules = compileRules({ builtins: ['Email'] }, () => {})
  const pipeline = new MaskPipeline(rules)
  const taken = ['Write to ann', '@exam', 'ple.', 'com', ' or call', ''].map((text) => {
    pipeline.push(text)
    return pipeline.take().map((piece) => piece.text)
  })
  expect(taken).toEqual([[], [], [], ['Write to <EMAIL_ADDRESS>', '', '', ''], [], []])
  pipeline.finish()
  expect(pipeline.take()).toEqual([
    { text: ' or call', changed: false },
    { text: '', changed: false },
  ])
})

test('the rule of a match that is too long to hold is told', () => {
  const rules = compileRules({ matches: ['x', 'BEGIN.*END'] }, () => {})
  const pipeline = new MaskPipeline(rules)
  pipeline.push(`BEGIN ${'-'.repeat(300)}`)
  expect(pipeline.overrunBy).toBeUndefined()
  pipeline.push('END.')
  expect(pipeline.overrunBy).toBe(rules[1])
})

test('the last 256 characters of a match that is too long to hold do not leave', () => {
  const random = seededRandom(17)
  const rules = compileRules({ matches: ['zz+', 'BEGIN(?s:.)*END', 'q+'] }, () => {})
  for (let round = 0; round < 20; round++) {
    const begin = `zzz q BEGIN ${'q \n'.repeat(100 + random.below(200))}`
    const pieces = random.pieces(`${begin}${'#'.repeat(253)}END`, 40)
    const pipeline = new MaskPipeline(rules)
    let out = ''
    for (const piece of pieces) {
      pipeline.push(piece)
      if (pipeline.overrunBy === undefined) for (const { text } of pipeline.take()) out += text
    }
    pipeline.finish()
    expect(pipeline.overrunBy).toBe(rules[1])
    expect(out).toMatch(/^<masked> <masked> BEGIN (?:<masked>| |\n)+$/)
  }
})

test('what is held of a match that is too long leaves when the text is over', () => {
  const rules = compileRules({ matches: ['BEGIN(?s:.)*END', 'q+'] }, () => {})
  const text = `BEGIN ${'qx\n'.repeat(200)}`
  const pieces = seededRandom(18).pieces(text, 20)
  expect(maskPieces(rules, pieces)).toBe(text.replaceAll('q', '<masked>'))
})

test('words in which no match begins go through no scanner', () => {
  const rules = compileRules(
    { matches: ['sk-\\d+'], builtins: ['Ssn', 'CreditCard', 'PhoneNumber', 'CaSin'] },
    () => {},
  )
  const made = rules.map((rule) => vi.spyOn(rule, 'scan'))
  onTestFinished(() => {
    for (const scan of made) scan.mockRestore()
  })
  const pipeline = new MaskPipeline(rules)
  for (const word of ['The ', 'quick ', 'brown ', 'fox']) pipeline.push(word)
  expect(made.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0, 0, 0])
  pipeline.push(' 1 sk')
  pipeline.push('y over the lazy dog, which takes a while')
  const scanners = made.map(({ mock }) => mock.results[0]!.value as TextScanner)
  const pushed = scanners.map((scanner) => vi.spyOn(scanner, 'push'))
  for (const word of [' he ', 'quick ', 'brown ', 'fox']) pipeline.push(word)
  expect(pushed.map(({ mock }) => mock.calls.length)).toEqual([0, 0, 0, 0, 0])
  pipeline.push(' 123-45-6789 ')
  pipeline.finish()
  expect(
    pipeline
      .take()
      .map(({ text }) => text)
      .join(''),
  ).toMatch(/^The quick brown fox 1 sky .* <SSN> $/)
})

test('a rule after those that words pass together sees no word twice', () => {
  const [first, second] = compileRules({ matches: ['zz', '\\bfox'] }, () => {})
  const { label, placeholder, isNumeric } = second!
  const last: TextRule = {
    ...{ label, placeholder, isNumeric, quiet: undefined },
    search: (text) => second!.search(text),
    scan: () => second!.scan(),
  }
  const pipeline = new MaskPipeline([first!, last])
  pipeline.push('fox')
  pipeline.push(' fox firefox')
  pipeline.finish()
  expect(pipeline.take().map(({ text }) => text)).toEqual(['<masked>', ' <masked> firefox'])
})

test('what waits in one rule is searched by the next one from its own beginning', () => {
  const rules = compileRules({ matches: ['c[a-z]{0,9}z', '\\bcat'] }, () => {})
  const pipeline = new MaskPipeline(rules)
  pipeline.push('cat')
  pipeline.push('x')
  pipeline.finish()
  expect(pipeline.take().map(({ text }) => text)).toEqual(['<masked>', 'x'])
})

test('a pipeline tells which rules have matched', () => {
  const rules = compileRules({ matches: ['never', '[a-z]+[.]', '[0-9]+$'] }, () => {})
  const pipeline = new MaskPipeline(rules)
  expect(pipeline.matched).toEqual([])
  pipeline.push('abc. 1')
  expect(pipeline.matched).toEqual([rules[1]])
  pipeline.finish()
  expect(pipeline.matched).toEqual([rules[1], rules[2]])
})
