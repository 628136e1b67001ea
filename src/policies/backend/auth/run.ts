import type { Exchange, Identity } from '#exchange/exchange.ts'
import { type Outcome, proceed, reject } from '#exchange/outcome.ts'
import {
  authorizationHeader,
  type WritableLocation,
  writeCredential,
} from '../../shared/authentication/credential-location.ts'

const BEARER = authorizationHeader('Bearer')
const BASIC = authorizationHeader('Basic')

/** Writes the configured credential; it replaces the value of the client. */
export function sendCredential(location: WritableLocation, credential: string, exchange: Exchange): Outcome {
  exchange.sentCredential = credential
  return write(location, credential, exchange)
}

function write(location: WritableLocation, credential: string, exchange: Exchange): Outcome {
  exchange.trace?.credential(location.kind, location.name)
  if (writeCredential(location, exchange.request, credential)) return proceed
  return reject('backend-auth-failed', { detail: 'the credential cannot be written to its location' })
}

/**
 * Restores the validated credential of the client: JWT, else API key, else Basic (decision A-102). Without one the request is unchanged.
 */
export function passCredential(location: WritableLocation | undefined, exchange: Exchange): Outcome {
  const { identity } = exchange
  const credential = validatedCredential(identity)
  if (credential === undefined) return proceed
  exchange.trace?.note('sends the validated credential of the client')
  const isBasic = identity.jwt === undefined && identity.apiKey === undefined
  return write(location ?? (isBasic ? BASIC : BEARER), credential, exchange)
}

function validatedCredential({ jwt, apiKey, basicAuth }: Identity): string | undefined {
  return jwt?.token ?? apiKey?.key ?? basicAuth?.credential
}
