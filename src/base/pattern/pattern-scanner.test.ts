import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { randomPattern, randomText } from '#test/support/random-pattern.ts'
import { sampleSize } from '#test/support/sample-size.ts'
import { seededRandom } from '#test/support/seeded-random.ts'
import { Automaton } from './automaton.ts'
import { PatternScanner, type ScannerOptions } from './pattern-scanner.ts'
import type { ScannedMatch } from './text-scanner.ts'

const UNLIMITED = { limit: Number.POSITIVE_INFINITY }

function automaton(source: string): Automaton {
  return new Automaton(RE2JS.compile(source))
}

/** `start-end` of all matches, as the library finds them. */
function expected(pattern: RE2JS, text: string): string {
  const matches: string[] = []
  for (const matcher = pattern.matcher(text); matcher.find(); ) {
    if (matcher.end() > matcher.start()) matches.push(`${matcher.start()}-${matcher.end()}`)
  }
  return matches.join()
}

/** The same for matches of a scanner, whose parts are joined. */
function described(matches: readonly ScannedMatch[]): string {
  const joined: { start: number; end: number }[] = []
  for (const { start, end, continues } of matches) {
    const last = joined.at(-1)
    if (!continues) joined.push({ start, end })
    else if (last?.end === start) last.end = end
    else throw new Error('a match does not continue the last one')
  }
  return joined.map(({ start, end }) => `${start}-${end}`).join()
}

function searched(from: Automaton, text: string): string {
  const steps = new PatternScanner(from, UNLIMITED).search(text)
  for (;;) {
    const step = steps.next()
    if (step.done) return described(step.value)
  }
}

/** What a scanner knows after each piece, and its matches. */
function scanned(from: Automaton, options: ScannerOptions, pieces: readonly string[]) {
  const scanner = new PatternScanner(from, options)
  const matches: ScannedMatch[] = []
  const held: number[] = []
  let length = 0
  let settled = 0
  for (const piece of pieces) {
    scanner.push(piece)
    length += piece.length
    held.push(length - scanner.settled)
    const taken = scanner.takeMatches()
    // What was settled before stays as it was.
    const late = taken.find(({ start, end }) => start < settled || end > scanner.settled)
    if (late !== undefined || scanner.settled < settled) throw new Error('text changed after it was settled')
    settled = scanner.settled
    matches.push(...taken)
  }
  scanner.finish()
  matches.push(...scanner.takeMatches())
  return { matches: described(matches), held, overran: scanner.overran, settled: scanner.settled }
}

test('matches are those of the library, in whole texts and in pieces', () => {
  const random = seededRandom(15)
  let withMatches = 0
  let overruns = 0
  const rounds = sampleSize(200, 1200)
  for (let round = 0; round < rounds; round++) {
    const source = randomPattern(random)
    let pattern: RE2JS
    try {
      pattern = RE2JS.compile(source)
    } catch {
      continue
    }
    const subject = new Automaton(pattern)
    for (const longest of [6, 12, 40]) {
      const text = randomText(random, longest)
      const about = `${source} in ${JSON.stringify(text)}`
      const matches = expected(pattern, text)
      if (matches !== '') withMatches++
      if (searched(subject, text) !== matches) expect.fail(`another result: ${about}`)
      for (const wholeMatches of [false, true]) {
        const result = scanned(subject, { ...UNLIMITED, wholeMatches }, random.pieces(text, 4))
        if (result.matches !== matches || result.overran) expect.fail(`another result in pieces: ${about}`)
        if (result.settled !== text.length) expect.fail(`not settled at the end: ${about}`)
      }
      const limited = scanned(subject, { limit: 1 + random.below(4) }, random.pieces(text, 4))
      // Half a surrogate pair waits beside what is held.
      if (Math.max(0, ...limited.held) > 5) expect.fail(`holds too much: ${about}`)
      if (limited.overran) overruns++
      else if (limited.matches !== matches) expect.fail(`another result with a limit: ${about}`)
    }
  }
  expect(withMatches).toBeGreaterThan(rounds * 0.4)
  expect(overruns).toBeGreaterThan(rounds / 300)
})

const EMAIL = '[A-Za-z0-9_.+-]{1,64}@[A-Za-z0-9-]{1,63}\\.[A-Za-z0-9.-]+'

test.each<[pattern: string, pieces: string[], held: number[], matches: string]>([
  // Words leave with the character after them.
  [EMAIL, ['hello', ' wor', 'ld,', ' it is'], [5, 3, 0, 2], ''],
  // A match whose beginning is certain leaves, and so does what continues it.
  [EMAIL, ['to a@', 'b.', 'c', 'om', '/x'], [2, 4, 0, 0, 1], '3-10'],
  // Complete, whatever comes next.
  ['foo', ['a foo', ' foo'], [0, 0], '2-5,6-9'],
  // It depends on the next character.
  ['foo\\b', ['a foo', ' fool'], [3, 0], '2-5'],
  ['(?m)a$', ['ba', '\n', 'ba'], [1, 0, 1], '1-2,4-5'],
  // An earlier beginning may still win.
  ['abcd|bc', ['abc', 'x'], [3, 0], '1-3'],
  // The best match so far leaves; only what may continue it waits.
  ['ab(?:cde)?', ['xabcd', 'f'], [2, 0], '1-3'],
  // Half a character.
  ['😀', ['a\ud83d', '\ude00b'], [1, 0], '1-3'],
  ['k', ['\u212a', 'k'], [0, 0], '1-2'],
  ['(?i)k', ['\u212a', 'K'], [0, 0], '0-1,1-2'],
])('%s in %j holds %j', (source, pieces, held, matches) => {
  expect(scanned(automaton(source), { limit: 256 }, pieces)).toMatchObject({ held, matches, overran: false })
})

test('half a character takes no place of what is held', () => {
  const pieces = ['a', '\ud83d', '\ude42a']
  expect(scanned(automaton('a\\b'), { limit: 1 }, pieces)).toMatchObject({ matches: '0-1,3-4', overran: false })
})

test('a match that is longer than what may be held is told when it is complete', () => {
  const quoted = automaton('BEGIN.*?END')
  const long = 'x'.repeat(300)
  expect(scanned(quoted, { limit: 256 }, ['BEGIN', 'x'.repeat(200), 'END'])).toMatchObject({
    matches: '0-208',
    overran: false,
  })
  const lost = scanned(quoted, { limit: 256 }, ['BEGIN', long, ' BEGIN END'])
  expect(lost.overran).toBe(true)
  expect(scanned(quoted, { limit: 256 }, ['BEGIN', long, '\nBEGIN END'])).toMatchObject({
    matches: '306-315',
    overran: false,
  })
  // While a longer match is possible, the shorter ones count.
  const either = automaton('a(?:.*END)?')
  expect(scanned(either, { limit: 8 }, ['a', 'bbbbbbbb', 'bba', '\n'])).toMatchObject({
    matches: '0-1,11-12',
    overran: false,
  })
  expect(scanned(either, { limit: 8 }, ['a', 'bbbbbbbb', 'bbb', 'END'])).toMatchObject({ overran: true })
})

test('the end of a match whose beginning has left is held until it is complete', () => {
  const random = seededRandom(16)
  const limit = 32
  const rounds = sampleSize(40, 400)
  for (let round = 0; round < rounds; round++) {
    const subject = automaton(
      random.pick(['BEGIN(?s:.)*END', 'BEGIN[^z]*?END\\b', 'B[A-Z]+N(?s:.)*(?:END|FIN)$', 'x|BEGIN[^z]*END']),
    )
    const inside = Array.from({ length: 40 + random.below(80) }, () => random.pick(['a', 'b ', 'x', '12', '\n'])).join(
      '',
    )
    const before = random.pick(['', 'Look: ', 'x x ', 'a'.repeat(40)])
    const complete = `${before}BEGIN${inside}END`
    const scanner = new PatternScanner(subject, { limit })
    let settled = 0
    for (const piece of [...random.pieces(complete, 5), '']) {
      // The last piece may be the end.
      if (piece === '') scanner.finish()
      else scanner.push(piece)
      if (scanner.overran) break
      settled = scanner.settled
    }
    const about = `${subject.program.prefix} in ${JSON.stringify(complete)}: ${settled}`
    if (scanner.overran && settled > complete.length - limit) expect.fail(`the end has left: ${about}`)
  }
})

test.each<[pattern: string, pieces: string[], settled: number[], matches: string]>([
  // As long as the match is open.
  ['BEGIN.*END', ['BEGIN', '123456', '7', '8\n', 'x'], [0, 3, 4, 14, 15], ''],
  // It was open to the end.
  ['BEGIN.*END', ['BEGIN123456'], [3], ''],
  // Other matches in the held text are reported when it leaves.
  ['BEGIN.*END|x+', ['BEGIN1xx45xx89', '0', 'x\n'], [6, 7, 17], '6-8,10-12,15-16'],
  ['BEGIN.*END|x+', ['BEGIN678xx1x345678', '\n'], [10, 19], '8-10,11-12'],
])('of %s in %j, what is open stays: %j', (source, pieces, settled, matches) => {
  const scanner = new PatternScanner(automaton(source), { limit: 8 })
  const found: ScannedMatch[] = []
  for (const [at, piece] of pieces.entries()) {
    scanner.push(piece)
    expect(scanner.settled).toBe(settled[at])
    const taken = scanner.takeMatches()
    expect(taken.every(({ start, end }) => start < end && end <= scanner.settled)).toBe(true)
    found.push(...taken)
  }
  scanner.finish()
  expect(scanner).toMatchObject({ overran: false, settled: pieces.join('').length })
  expect(described([...found, ...scanner.takeMatches()])).toBe(matches)
})

test('text that is let go ends before no combining mark, and within no surrogate pair', () => {
  const bounded = automaton('.{300}x')
  for (const [character, limit, held] of [
    ['e\u0301', 256, 170],
    ['e\u0301', 255, 170],
    ['e\u0301', 254, 168],
    ['😀', 255, 126],
  ] as const) {
    expect(scanned(bounded, { limit }, [character.repeat(100)]).held).toEqual([held])
  }
})

test('a long search yields, and its work grows with the text only', () => {
  const length = sampleSize(100_000, 400_000)
  const texts = ['a', 'ab ', 'aaaaaaaaaaaaaaaab', '1', '1-', 'x@y', 'é']
  let total = 0
  for (const source of ['(?:a*)*b', '(?:a|aa)+$', EMAIL, '(?:\\d+-?)+x', '(?:\\pL+\\s*)+1', '(a?){20}a{20}c']) {
    const subject = automaton(source)
    for (const part of texts) {
      const steps = [1, 2].map((times) => {
        const search = new PatternScanner(subject, UNLIMITED).search(part.repeat((times * length) / part.length))
        let count = 0
        while (!search.next().done) count++
        return count
      })
      total += steps[0]!
      expect(steps[1], `${source} in ${part}`).toBeLessThanOrEqual(2 * steps[0]! + 1)
    }
  }
  expect(total).toBeGreaterThan(50)
})

test('what a search leaves out because an earlier one has found no match changes no result', () => {
  const random = seededRandom(151)
  let withMatches = 0
  let settled = 0
  const rounds = sampleSize(100, 400)
  for (let round = 0; round < rounds; round++) {
    const [first, second, third] = [randomPattern(random), randomPattern(random), randomPattern(random)]
    let pattern: RE2JS
    try {
      pattern = RE2JS.compile(`(?:a|${first})(?:[^c]*${second}c{3}|.*${third})?`)
    } catch {
      continue
    }
    const subject = new Automaton(pattern)
    const text = randomText(random, 400)
    const about = `${pattern.pattern()} in ${JSON.stringify(text)}`
    const matches = expected(pattern, text)
    if (matches.includes(',')) withMatches++
    if (searched(subject, text) !== matches) expect.fail(`another result: ${about}`)
    if (scanned(subject, UNLIMITED, random.pieces(text, 9)).matches !== matches) expect.fail(`in pieces: ${about}`)
    const limited = scanned(subject, { limit: 40 + random.below(80) }, random.pieces(text, 9))
    if (limited.overran) continue
    settled++
    if (limited.matches !== matches) expect.fail(`with a limit: ${about}`)
  }
  expect(withMatches).toBeGreaterThan(rounds / 2)
  expect(settled).toBeGreaterThan(rounds / 4)
})

/** How many characters of ASCII are read, again or not, until all matches are found; the text arrives in pieces of `size`. */
function readsOf(source: string, text: string, limit: number, size: number): { reads: number; matches: number } {
  const subject = automaton(source)
  let reads = 0
  const latin = new Proxy(subject.program.latin, {
    get: (classes, unit) => {
      reads++
      return classes[Number(unit)]
    },
  })
  Object.assign(subject, { program: { ...subject.program, latin } })
  const scanner = new PatternScanner(subject, { limit })
  let matches = 0
  for (let at = 0; at < text.length; at += size) {
    scanner.push(text.slice(at, at + size))
    matches += scanner.takeMatches().length
  }
  scanner.finish()
  return { reads, matches: matches + scanner.takeMatches().length }
}

// Each match may go on to the end of the text, and does not.
test.each<[source: string, part: string, perUnit: number]>([
  ['a(?:.*END)?', 'a', 12],
  ['a(?:[^b]*b)?', 'ac', 12],
  ['(?:.*END)?', 'x', 12],
  ['(?:a|aa)(?:.*END|.*DNE)?', 'a', 20],
  ['\\ba\\b(?:[a ]*\\Bb|.*x.{3}END)?', 'a ', 20],
  ['a(?:.*x.{40}END)?', 'ax', 200],
  ['(?:ab(?:.*a.{20}c)?|b(?:.*b.{9}d)?)', 'ab', 200],
])('%s in many %j reads each character a bounded number of times', (source, part, perUnit) => {
  for (const { limit, size } of [
    { limit: Number.POSITIVE_INFINITY, size: 2 ** 20 },
    { limit: Number.POSITIVE_INFINITY, size: 16 },
    { limit: 1024, size: 256 },
    { limit: 256, size: 7 },
  ]) {
    for (const length of [4000, 16_000].slice(0, sampleSize(1, 2))) {
      const { reads, matches } = readsOf(source, part.repeat(length / part.length), limit, size)
      expect(reads, `${length} in pieces of ${size}`).toBeLessThan(perUnit * length)
      if (!source.startsWith('(?:.*')) expect(matches).toBeGreaterThan(length / 50)
    }
  }
})

test.each(
  [...'09AZ_az']
    .map((character) => [character, '0-1'])
    .concat([...'/:@[^`{'].map((character) => [character, '0-1,1-2'])),
)('whether a word begins behind a match depends on its last character: %s', (character, matches) => {
  expect(
    scanned(automaton(`\\x{${character.charCodeAt(0).toString(16)}}|\\bx`), UNLIMITED, [`${character}x`]).matches,
  ).toBe(matches)
})

test('a line begins behind a match that ends with a newline', () => {
  for (const pieces of [['a\nb\nb'], ['a\n', 'b', '\nb']]) {
    const { matches } = scanned(automaton('a\\n|(?m:^)b'), UNLIMITED, pieces)
    expect(matches).toBe('0-2,2-3,4-5')
  }
})
