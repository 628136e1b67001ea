import { Pace, runAtOnce } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'
import type { RegexGuardSpec } from '../../settings/guard-schema.ts'
import { replaceMatches } from '../texts/guarded-text.ts'
import { compileRules } from './compile-rules.ts'
import { SearchableText } from './searchable-text.ts'
import type { TextRule } from './text-rule.ts'

/** All matches of a rule in a whole text. */
export function findMatches(rule: TextRule, text: string): readonly Match[] {
  const search = new SearchableText(text).search(rule)
  return search === undefined ? [] : runAtOnce(search)
}

/** Masks a whole text by all rules; each sees the output of the one before. */
export function maskWhole(rules: readonly TextRule[], text: string): string {
  return rules.reduce(
    (masked, rule) => runAtOnce(replaceMatches(masked, findMatches(rule, masked), rule.placeholder, new Pace())),
    text,
  )
}

const shared = new Map<string, TextRule>()

/**
 * The rules of a guard. Guards share a pattern that has the same place in them, as they share the built-in rules: to compile a pattern takes
 * longer than to mask a text.
 */
export function sharedRules({
  matches = [],
  builtins = [],
}: Pick<RegexGuardSpec, 'matches' | 'builtins'>): readonly TextRule[] {
  const ofPatterns = matches.map((source, index) => {
    const key = `${index} ${source}`
    // The place is in the label of a rule.
    const rule = shared.get(key) ?? compiled({ matches: [...Array(index).fill('a'), source] }).at(-1)!
    shared.set(key, rule)
    return rule
  })
  return [...ofPatterns, ...compiled({ builtins })]
}

function compiled(spec: Pick<RegexGuardSpec, 'matches' | 'builtins'>): readonly TextRule[] {
  return compileRules(spec, (path, message) => {
    throw new Error(`${path}: ${message}`)
  })
}

type BuiltinName = NonNullable<RegexGuardSpec['builtins']>[number]

/** Patterns of all forms, for texts of `CHARS`. */
export const PATTERNS: readonly string[] = [
  'a',
  'ab',
  'abc',
  'a+',
  'a*b',
  'a?b',
  'ab{2}',
  'ab{1,3}c',
  '(ab)+',
  '(a|b)c',
  '(a|ab)(c|bc)',
  'a|ab|abc',
  'abc|ab|a',
  '[ab]c',
  '[^a]b',
  '[a-c]{3}',
  '.b.',
  'a.*?c',
  'a.{0,5}c',
  'a[^c]*c',
  '^a',
  'c$',
  '(?m)^b',
  '(?m)b$',
  '\\ba',
  'a\\b',
  '\\Bb\\B',
  '\\bab\\b',
  '\\d',
  '\\d+',
  '\\d{2,4}',
  '\\d-\\d',
  '\\w+1',
  '\\W1',
  '\\s',
  '\\s+a',
  'a\\s+b',
  '(?i)ABC',
  '(?i)k',
  '(?i)ſ1',
  'é',
  'é+a',
  '[é🙂]',
  '🙂',
  '🙂🙂',
  '\\p{L}1',
  '\\p{Lu}',
  '\\x{1F642}a',
  'a\\n',
  '\\nb',
  '(?s)a.b',
  '"a',
  '\\\\',
  '@[a-c]+\\.',
  '[a-c]+@[a-c]+',
  '(?:a|1)(?:b|2)(?:c|3)',
  'a+?b',
  '(a+b+)+c',
]
export const CHARS: readonly string[] = [...'aaabbbccc111223ABKSſé🙂 \n.@-"\\', '\u212a', 'abc', 'e\u0301']

/** Each has a long match that may be open while there are others in the same text. */
export const OPEN_PATTERNS: readonly string[] = [
  '"[^-\n]*-|a+',
  '"[^ @]*@|a$|b',
  '1[^12]*2|\\bc|b+\\B',
  '"[^-]*-|a|b+',
  'a[^-]*-|a+b?',
  '"[^-]*-|b$',
  '"[^-]*-|\\Ba+|1',
  'a+|b',
]
/** The characters of these patterns alone. */
export const FEW_CHARS: readonly string[] = [...'aaabb1"-\n ']

/** A text with a match of each built-in rule, and text around it that may be a part of one. */
export const BUILTIN_TEXTS: readonly (readonly [BuiltinName, string])[] = [
  ['Ssn', '🙂12 123-45-6789, é'],
  ['CreditCard', '7 4111 1111 1111 1111 1'],
  ['PhoneNumber', 'é5 (212) 736-5000 a'],
  ['Email', '🙂a.b@c-d.example. @e'],
  ['CaSin', '1 123-456-789 12'],
]
