import { findMatches, type RegexRule } from './regex-rules.ts'

/** Whether a rule matches in one of the parts or across parts. */
export function runMatches(rules: readonly RegexRule[], parts: readonly string[]): boolean {
  const texts = parts.length === 1 ? parts : [...parts, parts.join('')]
  return rules.some(({ pattern }) => texts.some((text) => findMatches(pattern, text).length > 0))
}

/**
 * Masks the matches of all rules; each rule sees the output of the previous one. A match across parts is masked in each of them (decision
 * B44).
 * @returns the same array if nothing matched
 */
export function maskRun(rules: readonly RegexRule[], parts: readonly string[]): readonly string[] {
  let masked = parts
  for (const rule of rules) {
    const each = masked.map((part) => maskText(rule, part))
    if (each.some((part, index) => part !== masked[index])) masked = each
    if (masked.length > 1) masked = maskAcross(rule, masked)
  }
  return masked
}

function maskText({ pattern, placeholder }: RegexRule, text: string): string {
  let out = ''
  let from = 0
  for (const { start, end } of findMatches(pattern, text)) {
    out += text.slice(from, start) + placeholder
    from = end
  }
  return from === 0 ? text : out + text.slice(from)
}

function maskAcross({ pattern, placeholder }: RegexRule, parts: readonly string[]): readonly string[] {
  const matches = findMatches(pattern, parts.join(''))
  if (matches.length === 0) return parts
  let offset = 0
  return parts.map((part) => {
    const base = offset
    offset += part.length
    let out = ''
    let from = 0
    for (const match of matches) {
      const start = Math.max(0, match.start - base)
      const end = Math.min(part.length, match.end - base)
      if (end <= start) continue
      out += part.slice(from, start) + placeholder
      from = end
    }
    return out + part.slice(from)
  })
}
