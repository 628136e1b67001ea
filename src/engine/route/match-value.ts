import { compilePattern } from '#base/pattern.ts'
import { matchedAuthority } from '#net/http/authority-form.ts'
import type { Head } from '#net/http/head.ts'
import type { ValueMatch } from '#plan/item.ts'
import type { RoutedPath } from './request-path.ts'

/** Tests one value for equality or against an anchored regular expression. A pattern that does not compile matches nothing. */
function compileValueTest(match: Pick<ValueMatch, 'type' | 'value'>): (value: string) => boolean {
  const { type, value: expected } = match
  if (type === 'Exact') return (value) => value === expected
  const pattern = compilePattern(expected)
  return pattern === undefined ? () => false : (value) => pattern.matches(value)
}

/**
 * Tests a header. Repeated fields are tested one by one; joined values are not split. Pseudo-headers may be matched; authorities are
 * compared in their matched form, however the match is written (decision A-136).
 */
export function compileHeaderTest(match: ValueMatch): (head: Head, path: RoutedPath) => boolean {
  const name = match.name.toLowerCase()
  if (name === ':authority' || name === 'host') return compileAuthorityTest(match)
  const test = compileValueTest(match)
  if (name === ':method') return (head) => test(head.method)
  if (name === ':path') return (_, path) => test(path.matched + path.query)
  return (head) => {
    const first = head.get(name)
    return first !== undefined && (test(first) || head.getAll(name).some(test))
  }
}

function compileAuthorityTest({ type, value }: ValueMatch): (head: Head) => boolean {
  const test = compileValueTest({ type, value: type === 'Exact' ? matchedAuthority(value) : value })
  return (head) => test(matchedAuthority(head.authority))
}

/** Tests a query parameter, which must be present. Of duplicates the first value counts (decision A-52). */
export function compileQueryTest(match: ValueMatch): (query: URLSearchParams) => boolean {
  const test = compileValueTest(match)
  return (query) => {
    const value = query.get(match.name)
    return value !== null && test(value)
  }
}
