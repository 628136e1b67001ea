import type { SeededRandom } from './seeded-random.ts'

const ATOMS = [
  ...[
    'a',
    'b',
    'c',
    'k',
    's',
    'é',
    'ß',
    '😀',
    'K',
    '\n',
    'ab',
    '.',
    '\\d',
    '\\w',
    '\\W',
    '\\s',
    '\\pL',
    '[a-c]',
    '[^a]',
  ],
  ...['[😀-😂]', '\\b', '\\B', '^', '$', '\\z', '\\A', '(|a)', '(?i:k)', '(?i:É)', '(?s:.)', '(?m:^)', '(?m:$)'],
]
const REPETITIONS = ['*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?', '{2,}']
const FLAGS = ['', '', '', '(?i)', '(?s)', '(?m)', '(?im)', '(?U)']
const CHARACTERS = [
  ...['a', 'b', 'c', 'k', 'K', 's', 'S', 'é', 'É', 'ß', 'ẞ', '\u212a', '\u017f', '😀', '😁', '1', '_', ' ', '\n', '-'],
  ...['\ud83d', '\ude00', '\u0301', 'a', 'b', 'c'],
]

/** A pattern; most are valid in RE2 syntax. */
export function randomPattern(random: SeededRandom): string {
  return random.pick(FLAGS) + randomPart(random, 4)
}

function randomPart(random: SeededRandom, depth: number): string {
  const part = () => randomPart(random, depth - 1)
  const kind = random.below(depth <= 0 ? 3 : 9)
  if (kind < 3) return random.pick(ATOMS)
  if (kind < 5) return part() + part()
  if (kind < 6) return `(?:${part()}|${part()})`
  if (kind < 7) return `(?:${part()})${random.pick(REPETITIONS)}`
  if (kind < 8) return `(${part()})`
  return part() + randomPart(random, depth - 2) + part()
}

/** A text of characters that such patterns tell apart, also halves of surrogate pairs. */
export function randomText(random: SeededRandom, longest: number): string {
  return Array.from({ length: random.below(longest) }, () => random.pick(CHARACTERS)).join('')
}
