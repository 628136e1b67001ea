import { isPassword } from './passwords.ts'
import type { ProviderContext } from './provider-context.ts'
import { findUser, type Realm, type User } from './realm.ts'

export type SignIn = { readonly user: User } | { readonly refused: 'invalid' | 'blocked' }

/** Checks name and password of a user. The reasons are the same for users that do not exist. */
export async function signInUser(
  { failures }: ProviderContext,
  realm: Realm,
  username: string,
  password: string,
): Promise<SignIn> {
  if (failures.isBlocked(realm.name, username)) return { refused: 'blocked' }
  const user = findUser(realm, username)
  const isRight = await isPassword(password, user?.password)
  // Attempts at the same time must not all pass the first check.
  if (failures.isBlocked(realm.name, username)) return { refused: 'blocked' }
  if (user !== undefined && isRight && user.enabled && !user.hasTemporaryPassword) return { user }
  failures.note(realm.name, username)
  return { refused: 'invalid' }
}
