import type { Match } from '#base/pattern/text-scanner.ts'
import type { TextRule } from './text-rule.ts'

/** Replaces the matches of a rule. */
export function replaceMatches(text: string, matches: readonly Match[], placeholder: string): string {
  if (matches.length === 0) return text
  let out = ''
  let from = 0
  for (const { start, end } of matches) {
    out += text.slice(from, start) + placeholder
    from = end
  }
  return out + text.slice(from)
}

/** Masks a text by all rules; each sees the output of the one before. It yields every few milliseconds. */
export function* maskInSteps(rules: readonly TextRule[], text: string): Generator<undefined, string, undefined> {
  for (const rule of rules) text = replaceMatches(text, yield* rule.findInSteps(text), rule.placeholder)
  return text
}
