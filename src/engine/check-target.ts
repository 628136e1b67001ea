import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'

/** A dot segment, plain or percent-encoded, or a backslash: what could make us and the backend see different paths. */
const AMBIGUOUS = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)|\\/i

/**
 * Refuses request targets that routing could be tricked with (decision A-51); everything else passes untouched.
 * CONNECT is refused here too: no route can take it.
 */
export function checkTarget(exchange: Exchange): Refusal | undefined {
  const { target, method } = exchange.request
  if (method === 'CONNECT') return reject('method-not-allowed')
  if (target.charCodeAt(0) !== 0x2f) return target === '*' && method === 'OPTIONS' ? undefined : reject('path-invalid')
  if (!target.includes('.') && !target.includes('%') && !target.includes('\\')) return undefined
  const mark = target.indexOf('?')
  return AMBIGUOUS.test(mark < 0 ? target : target.slice(0, mark)) ? reject('path-invalid') : undefined
}
