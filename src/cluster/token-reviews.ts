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

/** A token that was accepted. */
export interface ReviewedToken {
  readonly account: ReviewedAccount
  /** Name of the pod that it is bound to. */
  readonly pod: string | undefined
  /** Its end in milliseconds since the epoch; undefined: unreadable. */
  readonly expiresMs: number | undefined
}

/** `why` never contains the token. */
export type Review = ReviewedToken | { readonly why: string }

interface ReviewApi {
  create(path: string, object: object): Promise<ApiAnswer>
}

/** A token that was reviewed stays accepted for so long while the API does not answer, unless it expires before. */
const OUTAGE_MS = 3_600_000
/** A token is reviewed again after this time. */
const FRESH_MS = 60_000
const MAX_KEPT = 10_000

interface Kept {
  readonly token: ReviewedToken
  readonly reviewedMs: number
}

const PATH = '/apis/authentication.k8s.io/v1/tokenreviews'
const POD = 'authentication.kubernetes.io/pod-name'
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
    const holds = (ms: number) =>
      kept !== undefined && nowMs - kept.reviewedMs < ms && nowMs < (kept.token.expiresMs ?? 0)
    if (holds(FRESH_MS)) return kept!.token
    const spec = { token, audiences: [this.#audience] }
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec }
    try {
      const { body } = await this.#api.create(PATH, review)
      const answer = this.#read(membersOf(body.status), expiryOf(token))
      this.#kept.delete(key)
      if ('account' in answer) this.#keep(key, { token: answer, reviewedMs: nowMs })
      return answer
    } catch (error) {
      if (!(error instanceof ApiUnreadable)) throw error
      return holds(OUTAGE_MS) ? kept!.token : { why: `the token cannot be reviewed: ${error.message}` }
    }
  }

  #read(status: ReturnType<typeof membersOf>, expiresMs: number | undefined): Review {
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
    const [pod] = itemsOf(membersOf(user.extra)[POD])
    return { account: { namespace, name, uid }, pod: typeof pod === 'string' ? pod : undefined, expiresMs }
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.set(key, kept)
    const [oldest] = this.#kept.keys()
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
  }
}

/** The end of a JSON web token in milliseconds (RFC 7519, 4.1.4). The API has checked it; unreadable: it is reviewed each time. */
function expiryOf(token: string): number | undefined {
  try {
    const claims = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const { exp } = membersOf(claims)
    return typeof exp === 'number' ? exp * 1000 : undefined
  } catch {
    return undefined
  }
}
