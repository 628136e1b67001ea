import type { Head } from '../http/head.ts'
import type { HeadLimits } from '../limits.ts'
import { latin1 } from '../transport/latin1.ts'
import { finishRequestHead, finishResponseHead } from './finish-head.ts'
import { parseRequestHead, parseResponseHead } from './parse-head.ts'

/** Reads a request head from `buffer[start, end)` and sets its text. @returns like `parseRequestHead` */
export function readRequestHead(buffer: Buffer, start: number, end: number, head: Head, limits: HeadLimits): number {
  const after = parseRequestHead(buffer, start, end, head, limits)
  if (after < 0) return after
  head.text = latin1(buffer, start, after)
  return finishRequestHead(head) || after
}

/** Reads a response head from `buffer[start, end)` and sets its text. @returns like `parseResponseHead` */
export function readResponseHead(buffer: Buffer, start: number, end: number, head: Head, limits: HeadLimits): number {
  const after = parseResponseHead(buffer, start, end, head, limits)
  if (after < 0) return after
  head.text = latin1(buffer, start, after)
  return finishResponseHead(head) || after
}
