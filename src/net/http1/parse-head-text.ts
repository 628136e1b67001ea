import { Head } from '../http/head.ts'
import { type HeadLimits, RESPONSE_LIMITS } from '../limits.ts'
import { finishRequestHead, finishResponseHead } from './finish-head.ts'
import { parseRequestHead, parseResponseHead } from './parse-head.ts'

const WIDE: HeadLimits = { ...RESPONSE_LIMITS, maxHeaders: 10_000 }

/**
 * Parses a complete head from byte text; a response begins with `HTTP/`. For tests and `explain`. Uses no Node API.
 * @returns the head, or a negative result of `head-outcome.ts`
 */
export function parseHeadText(text: string, limits: HeadLimits = WIDE): Head | number {
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0))
  const head = new Head()
  const ofResponse = text.startsWith('HTTP/')
  const parse = ofResponse ? parseResponseHead : parseRequestHead
  const after = parse(bytes, 0, bytes.length, head, limits)
  if (after < 0) return after
  head.text = text.slice(0, after)
  const problem = ofResponse ? finishResponseHead(head) : finishRequestHead(head)
  return problem === 0 ? head : problem
}
