import type { Exchange } from './exchange.ts'
import type { Expression } from './expression.ts'

/**
 * A field that came in several lines of which one alone would give the rule another result than the joined text. Servers differ in which
 * line they use, so no result holds for all of them (decision A-132). @returns its name; undefined if there is none
 */
export function findTellingLine(rule: Expression, exchange: Exchange): string | undefined {
  for (const name of rule.comparedFields) {
    const { request } = exchange
    if (!request.has(name)) continue
    const lines = request.getAll(name)
    if (
      lines.length > 1 &&
      new Set(lines.map((line) => resultWith(rule, exchange, name, line))).add(rule.isTrue(exchange)).size > 1
    )
      return name
  }
  return undefined
}

function resultWith(rule: Expression, exchange: Exchange, name: string, line: string): boolean {
  const { request } = exchange
  const head = request.clone()
  head.set(name, line)
  exchange.request = head
  try {
    return rule.isTrue(exchange)
  } finally {
    exchange.request = request
  }
}
