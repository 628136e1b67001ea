import { REJECTIONS, type RejectionCode } from '#base/rejections.ts'
import type { Head } from '#net/http/head.ts'
import type { DecidedBy } from './decided-by.ts'

/** The decision of a step: continue (`proceed`), refuse, or respond instead of the backend. */
export type Outcome = undefined | Refusal | Answer

/** Continue. A plain `undefined`, so that a step without a decision costs nothing. */
export const proceed = undefined

/** The gateway refuses the request. Status and public text come from the catalogue. */
export interface Refusal {
  readonly kind: 'refusal'
  readonly code: RejectionCode
  /** For operators: log and decision record only, never the response. */
  readonly detail: string | undefined
  /** Additional response headers, such as a challenge. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Replace the status and text of the catalogue, if a policy configures them. */
  readonly status: number | undefined
  readonly body: string | undefined
  /** A body of another server, instead of `body`: it may not be text. */
  readonly bytes: Uint8Array | undefined
  readonly contentType: string | undefined
  /** The exceeded limit and the field that sets it, which the client may know. Follows the text of the catalogue. */
  readonly limit: string | undefined
  /**
   * Set if the reason is the endpoint, so that another one may take the request. `unavailable`: it counts as failed. `unfit`: it does not
   * support the request, which says nothing about its health.
   */
  readonly endpointFault: 'unavailable' | 'unfit' | undefined
  /** Policies of the protocol of a backend that refuse. A step of a chain does not set it: the chain knows its policies. */
  readonly decidedBy: DecidedBy | undefined
}

/** A configured response (direct response, redirect, preflight): not an error, never converted. */
export interface Answer {
  readonly kind: 'answer'
  readonly head: Head
  /** Text is sent as UTF-8. */
  readonly body: string | Uint8Array | undefined
}

const PLAIN = Object.fromEntries(
  (Object.keys(REJECTIONS) as RejectionCode[]).map((code) => [code, refusal(code, {})]),
) as Record<RejectionCode, Refusal>

/** A refusal by its code; without options it is a shared constant. */
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
    bytes: extras.bytes,
    contentType: extras.contentType,
    limit: extras.limit,
    endpointFault: extras.endpointFault,
    decidedBy: extras.decidedBy,
  }
}

/** HTTP status of a refusal for clients that do not use gRPC. */
export function refusalStatus(refused: Refusal): number {
  return refused.status ?? REJECTIONS[refused.code].status
}

/** Text of a refusal for its client. */
export function refusalText({ code, body, bytes, limit }: Refusal): string {
  const { text } = REJECTIONS[code]
  if (bytes !== undefined) return new TextDecoder().decode(bytes)
  return body ?? (limit === undefined ? text : `${text}: ${limit}`)
}
