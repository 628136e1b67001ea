import type { RejectionCode } from '#base/rejections.ts'
import { type Outcome, reject } from '#exchange/outcome.ts'

/** A security policy that is not implemented refuses every request (decision A-36). */
export function refuseUnimplemented(code: RejectionCode, field: string): () => Outcome {
  const refusal = reject(code, { detail: `${field} is not implemented yet` })
  return () => refusal
}
