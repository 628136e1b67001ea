import type { SecretSet } from '#base/secret-set.ts'
import type { ImportKey } from '#base/verifying-key.ts'
import { RemoteKeySets } from '../authentication/remote-key-set.ts'
import { CloudCredentials, type Credential, secretsOfCredential } from '../clouds/cloud-credential.ts'
import type { KeptState, RequestKept } from './kept-value.ts'

/** A state for all workers. */
export type KeptUpdate =
  | { readonly of: 'key-set'; readonly state: KeptState<string> }
  | { readonly of: 'credential'; readonly state: KeptState<Credential> }
export type KeptKind = KeptUpdate['of']

/** Notes what no output may show of a state. */
export function noteSecretsOf({ of, state }: KeptUpdate, secrets: SecretSet): void {
  if (of === 'credential' && state.value !== undefined) {
    secrets.set(sourceOf(state.id), secretsOfCredential(state.value))
  }
}

/** Notes that a state is dropped. */
export function forgetSecretsOf(of: KeptKind, id: string, secrets: SecretSet): void {
  if (of === 'credential') secrets.set(sourceOf(id), [])
}

function sourceOf(id: string): string {
  return `credential ${id}`
}

/** All values of a thread that the main thread keeps current. */
export class KeptCopies {
  readonly keySets: RemoteKeySets
  readonly credentials: CloudCredentials

  /** @param ask requests a fetch from the main thread; undefined: nothing is fetched */
  constructor(importKey: ImportKey, ask?: (of: KeptKind, ...asked: Parameters<RequestKept>) => void) {
    this.keySets = new RemoteKeySets(importKey, ask && ((...asked) => ask('key-set', ...asked)))
    this.credentials = new CloudCredentials(ask && ((...asked) => ask('credential', ...asked)))
  }

  update(update: KeptUpdate): void {
    if (update.of === 'key-set') this.keySets.update(update.state)
    else this.credentials.update(update.state)
  }

  /** Removes a value that no policy uses any more. */
  remove(of: KeptKind, id: string): void {
    if (of === 'key-set') this.keySets.remove(id)
    else this.credentials.remove(id)
  }
}
