import { Automaton } from '#base/pattern/automaton.ts'
import { describeSizeFault } from '#base/pattern/program.ts'
import { compilePattern, describePatternFault } from '#base/pattern.ts'
import type { RegexGuardSpec } from '../../settings/guard-schema.ts'
import { builtinRule } from './builtin-rules.ts'
import { PatternRule } from './pattern-rule.ts'
import type { TextRule } from './text-rule.ts'

/**
 * The rules of a guard: its own patterns first, then the built-in ones, in order.
 * @param report receives the faults of patterns that cannot run, with their path within the guard
 */
export function compileRules(
  spec: Pick<RegexGuardSpec, 'matches' | 'builtins'>,
  report: (path: string, message: string) => void,
): readonly TextRule[] {
  const rules: TextRule[] = []
  spec.matches?.forEach((source, index) => {
    const label = `matches[${index}]`
    const pattern = compilePattern(source)
    const fault =
      pattern === undefined ? `not in RE2 syntax: ${describePatternFault(source)}` : describeSizeFault(pattern)
    if (pattern === undefined || fault !== undefined) report(`.${label}`, fault ?? '')
    else
      rules.push(
        new PatternRule({ placeholder: '<masked>', label, isNumeric: false }, { automaton: new Automaton(pattern) }),
      )
  })
  return [...rules, ...(spec.builtins ?? []).map(builtinRule)]
}
