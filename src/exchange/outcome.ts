import { REJECTIONS, type RejectionCode } from '#base/rejections.ts'
import type { Head } from '#net/http/head.ts'

/** What a step decided: go on (`proceed`), refuse, or answer instead of the backend. */
export type Outcome = undefined | Refusal | Answer

/** Go on. A plain `undefined`, so that a step that has nothing to say costs nothing. */
export const proceed = undefined

/** The gateway refuses the request. Status and public text come from the catalogue. */
export interface Refusal {
  readonly kind: 'refusal'
  readonly code: RejectionCode
  /** For operators: log and decision record only, never the response. */
  readonly detail: string | undefined
  /** Extra fields of the response, such as a challenge. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Instead of the catalogue's status and text, where a policy configures them. */
  readonly status: number | undefined
  readonly body: string | undefined
  readonly contentType: string | undefined
}

/** A configured answer (direct response, redirect, preflight): not an error, never converted. */
export interface Answer {
  readonly kind: 'answer'
  readonly head: Head
  /** Text is sent as UTF-8. */
  readonly body: string | Uint8Array | undefined
}

const PLAIN = Object.fromEntries(
  (Object.keys(REJECTIONS) as RejectionCode[]).map((code) => [code, refusal(code, {})]),
) as Record<RejectionCode, Refusal>

/** A refusal by its code; without extras it is a shared constant. */
export function reject(code: RejectionCode, extras?: Partial<Omit<Refusal, 'kind' | 'code'>>): Refusal {
  return extras === undefined ? PLAIN[code] : refusal(code, extras)
}

function refusal(code: RejectionCode, extras: Partial<Omit<Refusal, 'kind' | 'code'>>): Refusal {
  return {
    kind: 'refusal',
    code,
    detail: extras.detail,
    headers: extras.headers ?? [],
    status: extras.status,
    body: extras.body,
    contentType: extras.contentType,
  }
}

/** Status that the client of a refusal sees, unless it speaks gRPC. */
export function refusalStatus(refused: Refusal): number {
  return refused.status ?? REJECTIONS[refused.code].status
}
