import { createHash } from 'node:crypto'
import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import type { ApiAnswer } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'
import { itemsOf, membersOf, textOf } from './kubeconfig.ts'

/** A service account whose token was accepted. */
export interface ReviewedAccount {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

/** `why` never contains the token. */
export type Review = { readonly account: ReviewedAccount } | { readonly why: string }

interface ReviewApi {
  create(path: string, object: object): Promise<ApiAnswer>
}

/** A token that was reviewed stays accepted for so long while the API does not answer, unless it expires before. */
const OUTAGE_MS = 3_600_000
/** A token is reviewed again after this time. */
const FRESH_MS = 60_000
const MAX_KEPT = 10_000

interface Kept {
  readonly account: ReviewedAccount
  readonly reviewedMs: number
  readonly expiresMs: number
}

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews'
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/

/** Asks a Kubernetes API whose tokens are. */
export class TokenReviews {
  readonly #api: ReviewApi
  readonly #audience: string
  /** By digest of the token. */
  readonly #kept = new Map<string, Kept>()

  /** @param audience that tokens must be made for */
  constructor(api: ReviewApi, audience: string) {
    this.#api = api
    this.#audience = audience
  }

  async review(token: string): Promise<Review> {
    const key = createHash('sha256').update(token).digest('base64')
    const kept = this.#kept.get(key)
    const nowMs = clock.now()
    if (kept !== undefined && nowMs - kept.reviewedMs < FRESH_MS && nowMs < kept.expiresMs) return kept
    const spec = { token, audiences: [this.#audience] }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
    try {
      const { body } = await this.#api.create(PATH, review)
      const answer = this.#read(membersOf(body.status))
      this.#kept.delete(key)
      if ('account' in answer) this.#keep(key, { ...answer, reviewedMs: nowMs, expiresMs: expiryOf(token) })
      return answer
    } catch (error) {
      if (!(error instanceof ApiUnreadable)) throw error
      const isKnown = kept !== undefined && nowMs - kept.reviewedMs < OUTAGE_MS && nowMs < kept.expiresMs
      return isKnown ? kept : { why: `the token cannot be reviewed: ${error.message}` }
    }
  }

  #read(status: ReturnType<typeof membersOf>): Review {
    if (status.authenticated !== true) return { why: textOf(status.error) ?? 'the token is not valid in this cluster' }
    if (!itemsOf(status.audiences).includes(this.#audience)) {
      return { why: `the token is not made for the audience ${this.#audience}` }
    }
    const user = membersOf(status.user)
    const [, namespace, name] = ACCOUNT.exec(textOf(user.username) ?? '') ?? []
    const uid = textOf(user.uid)
    if (namespace === undefined || name === undefined || uid === undefined) {
      return { why: 'the token is not that of a service account' }
    }
    return { account: { namespace, name, uid } }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** The end of a JSON web token in milliseconds (RFC 7519, 4.1.4). The API has checked it; unreadable: it is reviewed each time. */
function expiryOf(token: string): number {
  try {
    const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const { exp } = membersOf(claims)
    return typeof exp === 'number' ? exp * 1000 : 0
  } catch {
    return 0
  }
}
