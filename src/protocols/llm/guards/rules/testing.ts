import { Pace, runAtOnce } from '#base/in-slices.ts'
import type { Match } from '#base/pattern/text-scanner.ts'
import { replaceMatches } from './mask-text.ts'
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
