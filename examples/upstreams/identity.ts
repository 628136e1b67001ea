import { randomUUID } from 'node:crypto'
import { startProvider } from '#idp/provider/http/start-provider.ts'
import { hashPassword } from '#idp/provider/passwords.ts'
import { ProviderState } from '#idp/provider/provider-state.ts'
import { createClient } from '#idp/provider/realm.ts'
import type { Upstream, UpstreamOptions } from './listen.ts'

/** The issuer in `identity.yaml` is at this address, whatever port a test takes. */
const PUBLIC_URL = 'http://localhost:9141'
export const USER = { username: 'alice', password: 'alice' }

/** An identity provider with a realm, a client and a user, all of them in memory. */
export async function startIdentity({ port, name = 'identity' }: UpstreamOptions): Promise<Upstream> {
  const state = await ProviderState.open({ read: () => undefined, write: () => {} })
  const realm = await state.addRealm('quickstart')
  const redirectUris = ['http://localhost:8080/*']
  const client = createClient({ clientId: 'quickstart', directAccessGrantsEnabled: true, redirectUris })
  realm.clients.set(client.id, client)
  const [id, password] = [randomUUID(), await hashPassword(USER.password)]
  const fixed = { enabled: true, attributes: {}, hasTemporaryPassword: false, isAdmin: false }
  realm.users.set(id, { id, username: USER.username, ...fixed, password })
  const reportBug = (error: unknown) => console.error(error)
  const provider = await startProvider({ host: '127.0.0.1', port, publicUrl: PUBLIC_URL, state, reportBug })
  return { name, ...provider }
}
