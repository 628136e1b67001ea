import type { Abortable, ApiAnswer, ApiClient, ApplyOptions } from './api-client.ts'
import { ApiUnreadable } from './api-unreadable.ts'

/** The objects of an API, one at a time. All methods throw `ApiUnreadable`. */
export type ObjectApi = Pick<ApiClient, 'get' | 'create' | 'apply' | 'merge' | 'replace' | 'delete'>

/** The time in which one replica, and no other, may write. */
export interface Term {
  /** Asked before each write, and true only while no other replica can lead. */
  readonly leads: boolean
  /** Aborts at the end of the term. */
  readonly signal: AbortSignal
}

/** The API for the leader: after the end of its term no write is sent, and those under way are given up. Reads are not concerned. */
export class FencedApi implements ObjectApi {
  readonly #api: ObjectApi
  readonly #term: Term

  constructor(api: ObjectApi, term: Term) {
    this.#api = api
    this.#term = term
  }

  get(path: string): Promise<ApiAnswer> {
    return this.#api.get(path)
  }

  async create(path: string, object: object): Promise<ApiAnswer> {
    return this.#api.create(path, object, this.#permitted())
  }

  async apply(path: string, object: object, options: ApplyOptions = {}): Promise<ApiAnswer> {
    return this.#api.apply(path, object, { ...options, ...this.#permitted() })
  }

  async merge(path: string, patch: object): Promise<ApiAnswer> {
    return this.#api.merge(path, patch, this.#permitted())
  }

  async replace(path: string, object: object): Promise<ApiAnswer> {
    return this.#api.replace(path, object, this.#permitted())
  }

  async delete(path: string): Promise<ApiAnswer> {
    return this.#api.delete(path, this.#permitted())
  }

  /** @throws ApiUnreadable: the term is over */
  #permitted(): Required<Abortable> {
    const { leads, signal } = this.#term
    if (!leads) throw new ApiUnreadable('this replica does not lead any more, so it writes nothing')
    return { signal }
  }
}
