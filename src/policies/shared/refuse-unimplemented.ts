import type { RejectionCode } from '#base/rejections.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'

/** What a security policy that cannot be applied yet does with every request: it refuses (decision A-36). */
export function refuseUnimplemented(code: RejectionCode, field: string): () => Outcome {
  const refusal = reject(code, { detail: `${field} is not implemented yet` })
  return () => refusal
}
