import { digestKey } from '#base/sha256.ts'
import type { ApiKeyIdentity, Exchange } from '#exchange/exchange.ts'
import { type Outcome, proceed, type Refusal } from '#exchange/outcome.ts'
import {
  type CredentialLocation,
  INVALID,
  readCredential,
  removeCredential,
} from '../../shared/authentication/credential-location.ts'
import type { ApiKeyAuthenticationSpec } from './schema.ts'

export interface ApiKeyPlan {
  readonly mode: ApiKeyAuthenticationSpec['mode']
  readonly location: CredentialLocation
  /** Key holders by key digest: looking up a digest takes the same time for every guess. */
  readonly holders: ReadonlyMap<string, KeyHolder>
  /** Valid keys in the form in which they were sent, because a digest costs more than the rest of the check. At most as many as holders. */
  readonly presented: Map<string, KeyHolder>
  readonly missing: Refusal
  readonly unknown: Refusal
}

/** The owner of a key. */
export type KeyHolder = Pick<ApiKeyIdentity, 'entry' | 'metadata'>

/**
 * Checks the API key (specification 1, 5.5). Only a known key is removed from the request; `Permissive` forwards an unknown one (decision
 *
 */
export function runApiKey(plan: ApiKeyPlan, exchange: Exchange): Outcome {
  const key = readCredential(plan.location, exchange)
  if (key === undefined) return plan.mode === 'Strict' ? plan.missing : proceed

  const holder = key === INVALID ? undefined : (plan.presented.get(key) ?? findHolder(plan, key))
  if (holder === undefined || key === INVALID) return plan.mode === 'Permissive' ? proceed : plan.unknown

  removeCredential(plan.location, exchange.request)
  exchange.identity.apiKey = { key, entry: holder.entry, metadata: holder.metadata }
  return proceed
}

function findHolder({ holders, presented }: ApiKeyPlan, key: string): KeyHolder | undefined {
  const holder = holders.get(digestKey(key))
  if (holder !== undefined) presented.set(key, holder)
  return holder
}
