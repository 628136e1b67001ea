import { randomUUID } from 'node:crypto'
import { IdpError } from '../idp-error.ts'
import { memberIn } from '../json-members.ts'
import { issuerOf } from '../provider-context.ts'
import { initialAccessToken, seconds } from '../tokens.ts'
import type { AdminHandler } from './admin-handler.ts'

const MAX_TOKENS = 1000

/** Creates a token with which `count` clients can be registered. `expiration` in seconds; 0: never. */
export const createInitialToken: AdminHandler = async (realm, request) => {
  const count = countIn(request.json, 'count', 1)
  const expiration = countIn(request.json, 'expiration', 0)
  if (realm.initialTokens.size >= MAX_TOKENS) throw IdpError.admin(409, `at most ${MAX_TOKENS} initial access tokens`)
  const id = randomUUID()
  const token = await initialAccessToken(realm, issuerOf(request, realm.name), id, expiration)
  realm.initialTokens.set(id, count)
  return { status: 200, json: { id, token, timestamp: seconds(), expiration, count, remainingCount: count } }
}

/** @throws IdpError 400 */
function countIn(json: unknown, name: string, ifMissing: number): number {
  const value = memberIn(json, name) ?? ifMissing
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31) return value as number
  throw IdpError.admin(400, `${name} must be a number`)
}
