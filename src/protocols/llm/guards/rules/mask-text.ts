import type { Match } from '#base/pattern/text-scanner.ts'

/** Replaces the matches of a rule. */
export function replaceMatches(text: string, matches: readonly Match[], placeholder: string): string {
  let out = ''
  let from = 0
  for (const { start, end } of matches) {
    out += text.slice(from, start) + placeholder
    from = end
  }
  return out + text.slice(from)
}
