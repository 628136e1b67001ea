import { randomBytes, randomUUID } from 'node:crypto'
import type { RealmKey } from './realm-keys.ts'

/** A realm: users and clients of their own, and keys that sign their tokens. All of it is stored. */
export interface Realm {
  readonly name: string
  /** The first one signs; tokens of the others are still valid. */
  keys: readonly RealmKey[]
  /** By `id`. */
  readonly clients: Map<string, Client>
  readonly users: Map<string, User>
  readonly components: Map<string, Component>
  /** How often each initial access token can still be used, by its `jti`. */
  readonly initialTokens: Map<string, number>
}

export interface Client {
  readonly id: string
  readonly clientId: string
  /** Undefined: a public client. */
  readonly secret?: string
  readonly name?: string
  readonly enabled: boolean
  readonly redirectUris: readonly string[]
  readonly standardFlowEnabled: boolean
  readonly directAccessGrantsEnabled: boolean
  readonly serviceAccountsEnabled: boolean
  readonly authorizationServicesEnabled: boolean
  readonly mappers: readonly Mapper[]
  readonly attributes?: Readonly<Record<string, string>>
  /** Digest of the token with which a client that registered itself may be changed (RFC 7592). */
  readonly registrationToken?: string
}

/** The attribute of a client whose authorization responses have no `iss`. */
export const EXCLUDE_ISSUER = 'exclude.issuer.from.auth.response'

/** Maps an attribute of users to a claim. */
export interface Mapper {
  readonly id: string
  readonly name: string
  readonly protocol: string
  readonly protocolMapper: string
  readonly config: Readonly<Record<string, string>>
}

export interface User {
  readonly id: string
  readonly username: string
  readonly email?: string
  readonly firstName?: string
  readonly lastName?: string
  readonly enabled: boolean
  readonly attributes: Readonly<Record<string, readonly string[]>>
  /** See `hashPassword`. Undefined: the user cannot sign in. */
  readonly password?: string
  /** Set by an administrator, to be changed by the user: it does not sign in. */
  readonly hasTemporaryPassword: boolean
  readonly isAdmin: boolean
}

/** A part of a realm that has a type: a policy about registrations of clients. */
export interface Component {
  readonly id: string
  readonly name: string
  readonly providerId: string
  readonly providerType: string
  readonly subType: string
}

const REGISTRATION_POLICY = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'

/** The policies that a new realm has: `[name, providerId, subType]`. */
const POLICIES = [
  ['Trusted Hosts', 'trusted-hosts', 'anonymous'],
  ['Allowed Client Scopes', 'allowed-client-templates', 'anonymous'],
  ['Allowed Client Scopes', 'allowed-client-templates', 'authenticated'],
  ['Max Clients Limit', 'max-clients', 'anonymous'],
] as const

/** Of one realm. */
export const MAX_CLIENTS = 10_000

/** Names are parts of paths: `..` would leave them. */
export function isRealmName(name: string): boolean {
  return /^[\w.-]{1,64}$/.test(name) && !/^\.+$/.test(name)
}

export function createRealm(name: string, key: RealmKey): Realm {
  const components = POLICIES.map(([policy, providerId, subType]) => {
    return { id: randomUUID(), name: policy, providerId, providerType: REGISTRATION_POLICY, subType }
  })
  const account = createClient({ clientId: ACCOUNT, redirectUris: [`/realms/${name}/account`] })
  return {
    name,
    keys: [key],
    clients: new Map([[account.id, account]]),
    users: new Map(),
    components: new Map(components.map((component) => [component.id, component])),
    initialTokens: new Map(),
  }
}

/** The public client of the page on which users see their tokens. */
export const ACCOUNT = 'account-console'

/** A public client that may only sign users in, unless the members say otherwise. */
export function createClient(members: Partial<Client> & Pick<Client, 'clientId'>): Client {
  return {
    id: randomUUID(),
    enabled: true,
    redirectUris: [],
    standardFlowEnabled: true,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: false,
    authorizationServicesEnabled: false,
    mappers: [],
    ...members,
  }
}

/** 32 characters, 190 bits. */
export function randomSecret(): string {
  return randomBytes(24).toString('base64url')
}

/** Both ids name a client. */
export function findClient({ clients }: Realm, id: string): Client | undefined {
  return clients.get(id) ?? [...clients.values()].find(({ clientId }) => clientId === id)
}

/** Names of users have no case. */
export function findUser({ users }: Realm, username: string): User | undefined {
  const name = username.toLowerCase()
  return [...users.values()].find((user) => user.username === name)
}
