import type { ImportKey } from '#base/verifying-key.ts'
import { type KeptState, KeptValue, KeptValues, type RequestKept } from '../kept/kept-value.ts'
import { type KeySet, NO_KEY_SET, readKeySet } from './read-key-set.ts'

/** Where a key set is fetched, and how long it is used before it is fetched again. */
export interface KeySetAddress {
  /** Key of the `BackendItem`. */
  readonly backend: string
  /** Absolute. */
  readonly path: string
  readonly cacheMs: number
}

/** The value is the JSON text of the last valid set. */
export type KeySetState = KeptState<string>

/** Policies with the same backend and path share a key set; the shortest of their durations applies. */
export function keySetId({ backend, path }: KeySetAddress): string {
  return `${backend} ${path}`
}

/** One thread's copy of a key set that the main thread fetches (decision A-62). */
export class RemoteKeySet extends KeptValue<string> {
  readonly address: KeySetAddress
  readonly #importKey: ImportKey
  #set: KeySet = NO_KEY_SET

  /** @param ask as for `KeptValue` */
  constructor(address: KeySetAddress, importKey: ImportKey, ask: RequestKept | undefined) {
    super(keySetId(address), ask)
    this.address = address
    this.#importKey = importKey
  }

  /** The same object until the keys change. */
  get keys(): KeySet['keys'] {
    return this.#set.keys
  }

  get faults(): KeySet['faults'] {
    return this.#set.faults
  }

  get fetched(): boolean {
    return this.state?.value !== undefined
  }

  /** Why there are no keys, for operators. */
  get unavailableReason(): string {
    const { backend, path } = this.address
    const fetch = `GET ${path} of ${backend}`
    if (!this.isKept) return `without --call, the key set of the issuer is not fetched (${fetch})`
    return `the key set of the issuer has not been fetched (${fetch}): ${this.state?.failure ?? 'the server has not answered yet'}`
  }

  override update(state: KeySetState): void {
    if (state.value !== undefined && state.value !== this.state?.value)
      this.#set = readKeySet(state.value, this.#importKey)
    super.update(state)
  }
}

/** The remote key sets of a thread, by `keySetId`. */
export class RemoteKeySets extends KeptValues<KeySetAddress, string, RemoteKeySet> {
  /** @param ask as for `KeptValue` */
  constructor(importKey: ImportKey, ask?: RequestKept) {
    super(keySetId, (address) => new RemoteKeySet(address, importKey, ask))
  }
}
