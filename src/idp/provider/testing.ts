import { randomUUID } from 'node:crypto'
import { callsTo, type IdpCall, type SendCall } from '../setup/idp-call.ts'
import type { SetupOptions } from '../setup/set-up.ts'
import { startProvider } from './http/start-provider.ts'
import { hashPassword, passwordCost } from './passwords.ts'
import { MASTER, ProviderState } from './provider-state.ts'

// Hundreds of passwords are checked, and how long that takes shows nothing.
passwordCost.n = 2

export const ADMIN = { username: 'admin', password: 'admin-password' }

const inMemory = (files: Map<string, string>) => ({
  read: (name: string) => files.get(name),
  write: (name: string, text: string) => void files.set(name, text),
})

/** The files of a provider with the realm `shop` and an administrator. Keys take long to create, so they are created once. */
async function firstFiles(): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  const state = await ProviderState.open(inMemory(files))
  await state.addRealm('shop')
  const fixed = { enabled: true, attributes: {}, hasTemporaryPassword: false, isAdmin: true }
  const [id, password] = [randomUUID(), await hashPassword(ADMIN.password)]
  state.realm(MASTER)!.users.set(id, { id, username: ADMIN.username, ...fixed, password })
  state.save()
  return files
}

let first: Promise<ReadonlyMap<string, string>> | undefined

/** A running provider whose files are in memory. */
export async function startTestProvider(files?: Map<string, string>) {
  first ??= firstFiles()
  files ??= new Map(await first)
  const bugs: unknown[] = []
  const state = await ProviderState.open(inMemory(files))
  const provider = await startProvider({ host: '127.0.0.1', port: 0, state, reportBug: (error) => bugs.push(error) })
  const url = new URL(provider.url)
  const calls: IdpCall[] = []
  const send: SendCall = (call) => {
    calls.push(call)
    return callsTo(url)(call)
  }
  return { url, state, files, bugs, calls, send, close: provider.close }
}

export const USERS: SetupOptions['users'] = [
  { username: 'ann', password: 'ann-password', group: 'makers', isPasswordGenerated: false },
  { username: 'ben', password: 'ben:password', group: 'sellers', isPasswordGenerated: false },
]

export function setupOptions(url: URL, changes: Partial<SetupOptions> = {}): SetupOptions {
  return { url, realm: 'shop', admin: ADMIN, clientId: 'gateway', users: USERS, ...changes }
}
