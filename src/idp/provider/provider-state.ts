import { parseJson } from '#base/parse-json.ts'
import { type Client, type Component, createClient, createRealm, type Realm, type User } from './realm.ts'
import { createKey, keyFrom, type StoredKey, storedKey } from './realm-keys.ts'

/** Files of the state folder. */
export interface ProviderFiles {
  read(name: string): string | undefined
  /** Replaces a file that only its owner can read. */
  write(name: string, text: string): void
}

/** The realm of administrators. */
export const MASTER = 'master'

const FILE = 'idp.json'
const VERSION = 1
const MAX_REALMS = 100

interface StoredRealm {
  readonly name: string
  readonly keys: readonly StoredKey[]
  readonly clients: readonly Client[]
  readonly users: readonly User[]
  readonly components: readonly Component[]
  readonly initialTokens: readonly (readonly [string, number])[]
}

/** The state file cannot be used. The message says what to do. */
export class ProviderStateUnusable extends Error {
  override readonly name = 'ProviderStateUnusable'
}

/** The realms of a provider. Every change is in the state folder before it is answered. */
export class ProviderState {
  readonly #files: ProviderFiles
  readonly #realms = new Map<string, Realm>()
  /** What the file has; undefined: there is none. */
  #saved: string | undefined

  private constructor(files: ProviderFiles) {
    this.#files = files
    this.#saved = files.read(FILE)
    this.#restore()
  }

  /** @throws ProviderStateUnusable */
  static async open(files: ProviderFiles): Promise<ProviderState> {
    const state = new ProviderState(files)
    if (state.realm(MASTER) === undefined) {
      const master = await state.addRealm(MASTER)
      const cli = createClient({ clientId: 'admin-cli', directAccessGrantsEnabled: true, standardFlowEnabled: false })
      master.clients.set(cli.id, cli)
      state.save()
    }
    return state
  }

  get realms(): Iterable<Realm> {
    return this.#realms.values()
  }

  realm(name: string): Realm | undefined {
    return this.#realms.get(name)
  }

  /** @throws RangeError if there are too many */
  async addRealm(name: string): Promise<Realm> {
    if (this.#realms.size >= MAX_REALMS) throw new RangeError(`at most ${MAX_REALMS} realms are possible`)
    const realm = createRealm(name, await createKey())
    realm.keys = [...realm.keys, await createKey('enc')]
    this.#realms.set(name, realm)
    this.save()
    return realm
  }

  /** @throws ProviderStateUnusable; all changes since the last time are undone then: nobody must rely on what ends with the process */
  save(): void {
    const realms = [...this.#realms.values()].map(stored)
    const text = `${JSON.stringify({ version: VERSION, realms }, null, 1)}\n`
    try {
      this.#files.write(FILE, text)
    } catch (error) {
      this.#restore()
      throw error
    }
    this.#saved = text
  }

  /** Makes the realms what the file says. Requests that have begun keep their realms, so these are changed, not replaced. */
  #restore(): void {
    const saved = this.#saved === undefined ? [] : readRealms(this.#saved)
    const names = new Set(saved.map(({ name }) => name))
    for (const name of this.#realms.keys()) if (!names.has(name)) this.#realms.delete(name)
    for (const realm of saved) {
      const present = this.#realms.get(realm.name)
      if (present === undefined) this.#realms.set(realm.name, realm)
      else Object.assign(present, realm)
    }
  }
}

function stored({ name, keys, clients, users, components, initialTokens }: Realm): StoredRealm {
  return {
    name,
    keys: keys.map(storedKey),
    clients: [...clients.values()],
    users: [...users.values()],
    components: [...components.values()],
    initialTokens: [...initialTokens],
  }
}

function readRealms(text: string): readonly Realm[] {
  let content: { readonly version?: unknown; readonly realms?: readonly StoredRealm[] }
  try {
    content = parseJson(text) as typeof content
    if (content.version === VERSION) return content.realms!.map(realmFrom)
  } catch (error) {
    throw new ProviderStateUnusable(
      `${FILE} is damaged (${(error as Error).message}); remove it to start with new realms`,
    )
  }
  throw new ProviderStateUnusable(`${FILE} is of another version of gatewright; use that version, or remove the file`)
}

function realmFrom({ name, keys, clients, users, components, initialTokens }: StoredRealm): Realm {
  const byId = <T extends { readonly id: string }>(list: readonly T[]) => new Map(list.map((one) => [one.id, one]))
  return {
    name,
    keys: keys.map(keyFrom),
    clients: byId(clients),
    users: byId(users),
    components: byId(components),
    initialTokens: new Map(initialTokens),
  }
}
