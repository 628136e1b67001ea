import { objectKey } from '#api/object.ts'
import { nameOfObjects } from '#deploy/names.ts'
import type { ApiAnswer } from '../api-client.ts'
import { itemsOf, membersOf, textOf } from '../kubeconfig.ts'
import type { TokenReviews } from '../token-reviews.ts'

/** Which Gateway a proxy serves, or why its token is not accepted. */
export type Admitted = { readonly gateway: string; readonly identity: string } | { readonly why: string }

interface AccountApi {
  get(path: string): Promise<ApiAnswer>
}

const BEARER = /^Bearer ([A-Za-z0-9\-._~+/]+=*)$/i

/**
 * Decides which Gateway's plan a proxy may see: that of the Gateway which owns its service account. A foreign account may have the name of ours,
 * so its UID counts.
 */
export class ProxyAccounts {
  readonly #api: AccountApi
  readonly #reviews: TokenReviews
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
    const { namespace, name, uid } = review.account
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}`
    const { status, body } = await this.#api.get(path)
    const metadata = membersOf(body.metadata)
    if (status !== 200 || metadata.uid !== uid) return { why: 'the service account does not exist any more' }
    const owner = itemsOf(metadata.ownerReferences)
      .map(membersOf)
      .find(({ kind, controller }) => kind === 'Gateway' && controller === true)
    const ownerName = textOf(owner?.name) ?? ''
    const gateway = objectKey('Gateway', namespace, ownerName)
    // Anybody who can create accounts can name an owner, but there is one account of this name.
    const isOurs = name === nameOfObjects(ownerName) && owner?.uid === this.#uidOf(gateway)
    if (owner === undefined || !isOurs) {
      return { why: 'the service account does not belong to a Gateway of this controller' }
    }
    return { gateway, identity: `${namespace}/${name}` }
  }
}
