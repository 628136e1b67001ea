import { randomUUID } from 'node:crypto'
import type { IdpRequest } from '../http/idp-request.ts'
import { IdpError } from '../idp-error.ts'
import { definedIn, flagMember, memberIn, objectMember, textMember } from '../json-members.ts'
import { hashPassword } from '../passwords.ts'
import { findUser, type Realm, type User } from '../realm.ts'
import type { AdminHandler } from './admin-handler.ts'

const MAX_USERS = 10_000
const MAX_LISTED = 100

/** `username` and `exact`; without `exact`, a part of the name. */
export const listUsers: AdminHandler = ({ users }, { query }) => {
  const wanted = (query.get('username') ?? query.get('search') ?? '').toLowerCase()
  const isExact = query.get('exact') === 'true'
  const found = [...users.values()].filter(({ username }) =>
    isExact ? username === wanted : username.includes(wanted),
  )
  const first = Number(query.get('first') ?? 0) || 0
  const max = Number(query.get('max') ?? MAX_LISTED) || MAX_LISTED
  return { status: 200, json: found.slice(first, first + Math.min(max, MAX_LISTED)).map(userRepresentation) }
}

export const createUser: AdminHandler = async (realm, { json, origin }) => {
  const username = (textMember(json, 'username') ?? '').toLowerCase()
  if (username === '') throw IdpError.admin(400, 'User name is missing')
  const changes = userChanges(json)
  const credential = credentialIn(json)
  // Nothing waits from here on: another request could create the same user.
  const password = credential && (await hashPassword(credential.value))
  if (realm.users.size >= MAX_USERS) throw IdpError.admin(409, `at most ${MAX_USERS} users are possible`)
  if (findUser(realm, username) !== undefined) throw IdpError.admin(409, 'User exists with same username')
  checkEmail(realm, changes.email, undefined)
  const user: User = {
    id: randomUUID(),
    username,
    enabled: false,
    attributes: {},
    isAdmin: false,
    hasTemporaryPassword: credential?.isTemporary === true,
    ...changes,
    ...(password === undefined ? {} : { password }),
  }
  realm.users.set(user.id, user)
  return {
    status: 201,
    headers: { location: `${origin}/admin/realms/${encodeURIComponent(realm.name)}/users/${user.id}` },
  }
}

export const oneUser: AdminHandler = (realm, request) => ({
  status: 200,
  json: userRepresentation(userOf(realm, request)),
})

/** Members that the representation leaves out stay as they are. A user that is disabled is signed out. */
export const changeUser: AdminHandler = (realm, request, context) => {
  const user = userOf(realm, request)
  const changes = userChanges(request.json)
  checkEmail(realm, changes.email, user)
  realm.users.set(user.id, { ...user, ...changes })
  if (changes.enabled === false) context.signOut(user)
  return { status: 204 }
}

export const deleteUser: AdminHandler = (realm, request, context) => {
  const user = userOf(realm, request)
  realm.users.delete(user.id)
  context.signOut(user)
  return { status: 204 }
}

export const resetPassword: AdminHandler = async (realm, request, context) => {
  const { id } = userOf(realm, request)
  const value = textMember(request.json, 'value') ?? ''
  if (value === '') throw IdpError.admin(400, 'the password is missing')
  const password = await hashPassword(value)
  const hasTemporaryPassword = flagMember(request.json, 'temporary') === true
  const user = userOf(realm, request)
  realm.users.set(id, { ...user, password, hasTemporaryPassword })
  context.signOut(user)
  return { status: 204 }
}

/** `UserRepresentation` of Keycloak, without what signs the user in. */
function userRepresentation({ password: _, hasTemporaryPassword, isAdmin: __, ...user }: User): object {
  return { ...user, emailVerified: false, requiredActions: hasTemporaryPassword ? ['UPDATE_PASSWORD'] : [] }
}

/** @throws IdpError 400 */
function userChanges(json: unknown): Partial<User> {
  return definedIn<Pick<User, 'enabled' | 'attributes'> & { email: string; firstName: string; lastName: string }>({
    email: textMember(json, 'email'),
    firstName: textMember(json, 'firstName'),
    lastName: textMember(json, 'lastName'),
    enabled: flagMember(json, 'enabled'),
    attributes: attributesIn(json),
  })
}

/** The values of an attribute are a text or a list of texts (decision A-126). @throws IdpError 400 */
function attributesIn(json: unknown): User['attributes'] | undefined {
  const attributes = objectMember(json, 'attributes')
  if (attributes === undefined) return undefined
  const entries = Object.entries(attributes).map(([name, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (values.some((one) => typeof one !== 'string')) throw IdpError.admin(400, `attribute ${name} must be a string`)
    return [name, values as readonly string[]] as const
  })
  return Object.fromEntries(entries)
}

/** @throws IdpError 400 */
function credentialIn(json: unknown): { readonly value: string; readonly isTemporary: boolean } | undefined {
  const credentials = memberIn(json, 'credentials')
  const [credential] = Array.isArray(credentials) ? credentials : []
  if (credential === undefined) return undefined
  const value = textMember(credential, 'value') ?? ''
  if (textMember(credential, 'type') !== 'password' || value === '') {
    throw IdpError.admin(400, 'credentials must have the type password and a value')
  }
  return { value, isTemporary: flagMember(credential, 'temporary') === true }
}

/** @throws IdpError 409 */
function checkEmail({ users }: Realm, email: string | undefined, self: User | undefined): void {
  if (email === undefined) return
  const isTaken = [...users.values()].some((user) => user.id !== self?.id && user.email === email)
  if (isTaken) throw IdpError.admin(409, 'User exists with same email')
}

/** @throws IdpError 404 */
function userOf({ users }: Realm, { params }: IdpRequest): User {
  const user = users.get(params.user!)
  if (user === undefined) throw IdpError.admin(404, 'User not found')
  return user
}
