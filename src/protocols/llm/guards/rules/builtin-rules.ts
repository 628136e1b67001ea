import { OwnPattern, type PatternAround } from '#base/pattern/own-pattern.ts'
import type { RegexGuardSpec } from '../../settings/guard-schema.ts'
import { CandidateRule, type CheckCandidate } from './candidate-rule.ts'
import { PatternRule } from './pattern-rule.ts'
import { findPhoneNumbers, loadPhoneNumbers, PHONE_CANDIDATE } from './phone-numbers.ts'
import type { TextRule } from './text-rule.ts'

export type Builtin = NonNullable<RegexGuardSpec['builtins']>[number]

/** Octets of the part of an address before `@` (RFC 5321, 4.5.3.1.1), and of a label of its domain (RFC 1035, 2.3.4). */
const LOCAL_PART = 64
const LABEL = 63

interface BuiltinRow {
  readonly placeholder: string
  /** Matches of several patterns that overlap are one. */
  readonly patterns: readonly (string | PatternAround)[]
  /** Finds the matches within a match of the patterns, which is only a candidate. */
  readonly check?: CheckCandidate
}

/** They verify no check digits: masking too much is the safe side (decision B57). */
export const BUILTINS: Readonly<Record<Builtin, BuiltinRow>> = {
  Ssn: {
    placeholder: '<SSN>',
    patterns: [String.raw`\b(?:\d{5}-\d{4}|\d{3}-\d{6}|\d{3}[- .]\d{2}[- .]\d{4}|\d{9})\b`],
  },
  CreditCard: {
    placeholder: '<CREDIT_CARD>',
    patterns: [
      String.raw`\b(?:4\d{3}|5[0-5]\d{2}|6\d{3}|3\d{3})(?:[- ]?\d{3,4}){2}[- ]?\d{3,5}\b`,
      String.raw`\b1\d{3}(?:[- ]?\d{3,4}){2}[- ]?\d{4,5}\b`,
    ],
  },
  PhoneNumber: { placeholder: '<PHONE_NUMBER>', patterns: [PHONE_CANDIDATE], check: findPhoneNumbers },
  Email: {
    placeholder: '<EMAIL_ADDRESS>',
    patterns: [
      {
        before: '[A-Za-z0-9_.+-]',
        atMost: LOCAL_PART,
        character: '@',
        after: `[A-Za-z0-9-]{1,${LABEL}}\\.[A-Za-z0-9.-]+`,
      },
    ],
  },
  CaSin: { placeholder: '<CA_SIN>', patterns: [String.raw`\b(?:\d{3}[- ]\d{3}[- ]\d{3}|\d{9})\b`] },
}

const rules = new Map<Builtin, TextRule>()

/** A built-in rule; all guards share it. */
export function builtinRule(name: Builtin): TextRule {
  const rule = rules.get(name) ?? ruleOf(name, BUILTINS[name])
  rules.set(name, rule)
  return rule
}

function ruleOf(label: Builtin, { placeholder, patterns, check }: BuiltinRow): TextRule {
  if (label === 'PhoneNumber') void loadPhoneNumbers()
  const about = { placeholder, label, isNumeric: label !== 'Email' }
  const [first, ...others] = patterns.map((pattern) => new OwnPattern(pattern))
  if (others.length === 0 && check === undefined) return new PatternRule(about, first!)
  return new CandidateRule(about, [first!, ...others], check)
}
