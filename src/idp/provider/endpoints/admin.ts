import type { Handler, IdpReply, IdpRequest } from '../http/idp-request.ts'
import { IdpError } from '../idp-error.ts'
import { textMember } from '../json-members.ts'
import type { ProviderContext } from '../provider-context.ts'
import { isRealmName } from '../realm.ts'
import { changeClient, clientSecret, createAdminClient, deleteClient, listClients, oneClient } from './admin-clients.ts'
import { createComponent, deleteComponent, listComponents, listKeys } from './admin-components.ts'
import type { AdminHandler } from './admin-handler.ts'
import { createInitialToken } from './admin-initial-tokens.ts'
import { changeMapper, createMapper, deleteMapper, listMappers } from './admin-mappers.ts'
import { changeUser, createUser, deleteUser, listUsers, oneUser, resetPassword } from './admin-users.ts'

/** The admin API: all of it needs the token of an administrator (document 1, 4.4). */
export function adminRoutes(context: ProviderContext): Readonly<Record<string, Handler>> {
  const using =
    (handler: AdminHandler): Handler =>
    async (request) => {
      await context.checkAdmin(request)
      const realm = context.realmOf(request)
      const reply = await handler(realm, request, context)
      if (request.method !== 'GET') context.state.save()
      return reply
    }
  const root = '/admin/realms/:realm'
  const mappers = `${root}/clients/:client/protocol-mappers/models`
  return {
    'POST /admin/realms': async (request) => {
      await context.checkAdmin(request)
      return createRealm(context, request)
    },
    [`GET ${root}`]: using(({ name }) => ({ status: 200, json: { realm: name, enabled: true } })),
    [`POST ${root}/clients-initial-access`]: using(createInitialToken),
    [`GET ${root}/clients`]: using(listClients),
    [`POST ${root}/clients`]: using(createAdminClient),
    [`GET ${root}/clients/:client`]: using(oneClient),
    [`PUT ${root}/clients/:client`]: using(changeClient),
    [`DELETE ${root}/clients/:client`]: using(deleteClient),
    [`GET ${root}/clients/:client/client-secret`]: using(clientSecret),
    [`GET ${mappers}`]: using(listMappers),
    [`POST ${mappers}`]: using(createMapper),
    [`PUT ${mappers}/:mapper`]: using(changeMapper),
    [`DELETE ${mappers}/:mapper`]: using(deleteMapper),
    [`GET ${root}/users`]: using(listUsers),
    [`POST ${root}/users`]: using(createUser),
    [`GET ${root}/users/:user`]: using(oneUser),
    [`PUT ${root}/users/:user`]: using(changeUser),
    [`DELETE ${root}/users/:user`]: using(deleteUser),
    [`PUT ${root}/users/:user/reset-password`]: using(resetPassword),
    [`GET ${root}/components`]: using(listComponents),
    [`POST ${root}/components`]: using(createComponent),
    [`DELETE ${root}/components/:component`]: using(deleteComponent),
    [`GET ${root}/keys`]: using(listKeys),
  }
}

async function createRealm({ state }: ProviderContext, { json, origin }: IdpRequest): Promise<IdpReply> {
  const name = textMember(json, 'realm') ?? ''
  if (!isRealmName(name))
    throw IdpError.admin(400, 'realm must be 1 to 64 letters, digits, dots, hyphens or underscores, and not only dots')
  if (state.realm(name) !== undefined) throw IdpError.admin(409, `Realm ${name} already exists`)
  await state.addRealm(name)
  return { status: 201, headers: { location: `${origin}/admin/realms/${encodeURIComponent(name)}` } }
}
