import { RE2JS } from 're2js'
import { compilePattern, describePatternFault } from '#base/pattern.ts'
import type { RegexGuardSpec } from './guard-schema.ts'

/** A pattern and the replacement of its matches. */
export interface RegexRule {
  readonly pattern: RE2JS
  readonly placeholder: string
}

type Builtin = NonNullable<RegexGuardSpec['builtins']>[number]

/** Built-in patterns. They do not verify check digits: masking too much is the safe side (decision B57). */
const BUILTINS: Readonly<Record<Exclude<Builtin, 'PhoneNumber'>, readonly [placeholder: string, pattern: string]>> = {
  Ssn: ['<SSN>', String.raw`\b(?:\d{5}-\d{4}|\d{3}-\d{6}|\d{3}[- .]\d{2}[- .]\d{4}|\d{9})\b`],
  CreditCard: [
    '<CREDIT_CARD>',
    String.raw`\b(?:(?:4\d{3}|5[0-5]\d{2}|6\d{3}|3\d{3})(?:[- ]?\d{3,4}){2}[- ]?\d{3,5}|1\d{3}(?:[- ]?\d{3,4}){2}[- ]?\d{4,5})\b`,
  ],
  Email: ['<EMAIL_ADDRESS>', String.raw`[A-Za-z0-9_.+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+`],
  CaSin: ['<CA_SIN>', String.raw`\b(?:\d{3}[- ]\d{3}[- ]\d{3}|\d{9})\b`],
}

/**
 * The rules of a guard: its own patterns first, then the built-in ones, in order.
 * @returns rules, and the faults of patterns that cannot run, with their path within the guard
 */
export function compileRegexRules(spec: RegexGuardSpec): {
  readonly rules: readonly RegexRule[]
  readonly faults: readonly { readonly path: string; readonly message: string }[]
} {
  const rules: RegexRule[] = []
  const faults: { path: string; message: string }[] = []
  spec.matches?.forEach((source, index) => {
    const pattern = compilePattern(source)
    if (pattern !== undefined) rules.push({ pattern, placeholder: '<masked>' })
    else faults.push({ path: `.matches[${index}]`, message: `not in RE2 syntax: ${describePatternFault(source)}` })
  })
  spec.builtins?.forEach((name, index) => {
    if (name === 'PhoneNumber') {
      faults.push({ path: `.builtins[${index}]`, message: 'PhoneNumber is not implemented yet' })
      return
    }
    const [placeholder, pattern] = BUILTINS[name]
    rules.push({ pattern: RE2JS.compile(pattern), placeholder })
  })
  return { rules, faults }
}

/** A match from `start` to `end`, in UTF-16 units; never empty. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** All matches in a text, from left to right. */
export function findMatches(pattern: RE2JS, text: string): Match[] {
  const matches: Match[] = []
  const matcher = pattern.matcher(text)
  while (matcher.find()) {
    const start = matcher.start()
    const end = matcher.end()
    // Empty matches mask nothing (decision B57).
    if (end > start) matches.push({ start, end })
  }
  return matches
}
