import { Automaton } from '#base/pattern/automaton.ts'
import { compilePattern } from '#base/pattern.ts'
import type { RegexGuardSpec } from '../guard-schema.ts'
import { CandidateRule } from './candidate-rule.ts'
import { PatternRule } from './pattern-rule.ts'
import { findPhoneNumbers, loadPhoneNumbers, PHONE_CANDIDATE } from './phone-numbers.ts'
import type { TextRule } from './text-rule.ts'

type Builtin = NonNullable<RegexGuardSpec['builtins']>[number]

/** Octets of the part of an address before `@` (RFC 5321, 4.5.3.1.1), and of a label of its domain (RFC 1035, 2.3.4). */
const LOCAL_PART = 64
const LABEL = 63

/** They verify no check digits: masking too much is the safe side (decision B57). */
const BUILTINS: Readonly<Record<Builtin, () => TextRule>> = {
  Ssn: () =>
    new PatternRule(
      { placeholder: '<SSN>', label: 'Ssn', isNumeric: true },
      automatonOf(String.raw`\b(?:\d{5}-\d{4}|\d{3}-\d{6}|\d{3}[- .]\d{2}[- .]\d{4}|\d{9})\b`),
    ),
  CreditCard: () =>
    new CandidateRule({ placeholder: '<CREDIT_CARD>', label: 'CreditCard', isNumeric: true }, [
      automatonOf(String.raw`\b(?:4\d{3}|5[0-5]\d{2}|6\d{3}|3\d{3})(?:[- ]?\d{3,4}){2}[- ]?\d{3,5}\b`),
      automatonOf(String.raw`\b1\d{3}(?:[- ]?\d{3,4}){2}[- ]?\d{4,5}\b`),
    ]),
  PhoneNumber: () => {
    void loadPhoneNumbers()
    const names = { placeholder: '<PHONE_NUMBER>', label: 'PhoneNumber', isNumeric: true }
    return new CandidateRule(names, [automatonOf(PHONE_CANDIDATE)], findPhoneNumbers)
  },
  Email: () =>
    new PatternRule(
      { placeholder: '<EMAIL_ADDRESS>', label: 'Email', isNumeric: false },
      automatonOf(`[A-Za-z0-9_.+-]{1,${LOCAL_PART}}@[A-Za-z0-9-]{1,${LABEL}}\\.[A-Za-z0-9.-]+`),
      { character: '@', within: LOCAL_PART },
    ),
  CaSin: () =>
    new PatternRule(
      { placeholder: '<CA_SIN>', label: 'CaSin', isNumeric: true },
      automatonOf(String.raw`\b(?:\d{3}[- ]\d{3}[- ]\d{3}|\d{9})\b`),
    ),
}

const rules = new Map<Builtin, TextRule>()

/** A built-in rule; all guards share it. */
export function builtinRule(name: Builtin): TextRule {
  const rule = rules.get(name) ?? BUILTINS[name]()
  rules.set(name, rule)
  return rule
}

function automatonOf(source: string): Automaton {
  const pattern = compilePattern(source)
  if (pattern === undefined) throw new Error(`broken pattern: ${source}`)
  return new Automaton(pattern)
}
