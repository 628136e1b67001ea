import type { TextRule } from './rules/text-rule.ts'

/** Whether a rule matches in one of the parts or across parts. */
export function runMatches(rules: readonly TextRule[], parts: readonly string[]): boolean {
  const texts = parts.length === 1 ? parts : [...parts, parts.join('')]
  return rules.some((rule) => texts.some((text) => rule.matches(text)))
}

/**
 * Masks the matches of all rules; each rule sees the output of the previous one. A match across parts is masked in each of them (decision
 * B44).
 * @returns the same array if nothing matched
 */
export function maskRun(rules: readonly TextRule[], parts: readonly string[]): readonly string[] {
  let masked = parts
  for (const rule of rules) {
    const each = masked.map((part) => maskText(rule, part))
    if (each.some((part, index) => part !== masked[index])) masked = each
    if (masked.length > 1) masked = maskAcross(rule, masked)
  }
  return masked
}

function maskText(rule: TextRule, text: string): string {
  let out = ''
  let from = 0
  for (const { start, end } of rule.findMatches(text)) {
    out += text.slice(from, start) + rule.placeholder
    from = end
  }
  return from === 0 ? text : out + text.slice(from)
}

function maskAcross(rule: TextRule, parts: readonly string[]): readonly string[] {
  const matches = rule.findMatches(parts.join(''))
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
      out += part.slice(from, start) + rule.placeholder
      from = end
    }
    return out + part.slice(from)
  })
}
