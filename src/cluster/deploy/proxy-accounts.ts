import { objectKey } from '#api/object.ts'
import { nameOfObjects } from '#deploy/names.ts'
import type { ApiAnswer } from '../api-client.ts'
import { isOutage } from '../api-unreadable.ts'
import { itemsOf, membersOf, textOf } from '../kubeconfig.ts'
import type { ReviewedAccount, TokenReviews } from '../token-reviews.ts'

/** A proxy whose token is accepted, with the Gateway that it serves. */
interface AdmittedProxy {
  readonly gateway: string
  /** Namespace and name of its pod. */
  readonly identity: string
  /** The end of its token in milliseconds since the epoch. */
  readonly expiresMs?: number
}

export type Admitted = AdmittedProxy | { readonly why: string }

interface AccountApi {
  get(path: string): Promise<ApiAnswer>
}

/** The Gateway that controls an account. */
interface AccountOwner {
  readonly name: string
  readonly uid: string
}

const MAX_KEPT = 10_000

const BEARER = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i

/**
 * Decides which Gateway's plan a proxy may see: that of the Gateway which owns its service account. A foreign account may have the name of ours,
 * so its UID counts.
 */
export class ProxyAccounts {
  readonly #api: AccountApi
  readonly #reviews: TokenReviews
  /** By UID of the account, for times when the API does not answer. An account and its owner have the same life. */
  readonly #kept = new Map<string, AccountOwner>()
  readonly #uidOf: (gateway: string) => string | undefined

  /** @param uidOf the UID of a Gateway of this controller, by `objectKey` */
  constructor(api: AccountApi, reviews: TokenReviews, uidOf: (gateway: string) => string | undefined) {
    this.#api = api
    this.#reviews = reviews
    this.#uidOf = uidOf
  }

  /** @param authorization field of the request @throws ApiUnreadable */
  async admit(authorization: string | undefined): Promise<Admitted> {
    const [, token] = BEARER.exec(authorization ?? '') ?? []
    if (token === undefined) return { why: 'a token of a service account is required' }
    const review = await this.#reviews.review(token)
    if ('why' in review) return review
    const { account, pod, expiresMs } = review
    const owner = await this.#ownerOf(account)
    if (owner === undefined) return { why: 'the service account does not exist any more' }
    const { uid } = owner
    const gateway = objectKey('Gateway', account.namespace, owner.name)
    // Anybody who can create accounts can name an owner, but there is one account of this name.
    if (account.name !== nameOfObjects(owner.name) || uid === '' || uid !== this.#uidOf(gateway)) {
      return { why: 'the service account does not belong to a Gateway of this controller' }
    }
    const identity = `${account.namespace}/${pod ?? account.name}`
    return { gateway, identity, ...(expiresMs !== undefined && { expiresMs }) }
  }

  /** @returns undefined: the account is gone @throws ApiUnreadable */
  async #ownerOf({ namespace, name, uid }: ReviewedAccount): Promise<AccountOwner | undefined> {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}`
    try {
      const { status, body } = await this.#api.get(path)
      const metadata = membersOf(body.metadata)
      this.#kept.delete(uid)
      if (status !== 200 || metadata.uid !== uid) return undefined
      const owner = itemsOf(metadata.ownerReferences)
        .map(membersOf)
        .find(({ kind, controller }) => kind === 'Gateway' && controller === true)
      const found = { name: textOf(owner?.name) ?? '', uid: textOf(owner?.uid) ?? '' }
      this.#kept.set(uid, found)
      const [oldest] = this.#kept.keys()
      if (this.#kept.size > MAX_KEPT) this.#kept.delete(oldest!)
      return found
    } catch (error) {
      const kept = this.#kept.get(uid)
      if (!isOutage(error) || kept === undefined) throw error
      return kept
    }
  }
}
