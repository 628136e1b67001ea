import { accountPage } from './endpoints/account.ts'
import { adminRoutes } from './endpoints/admin.ts'
import { authorize, submitLogin } from './endpoints/authorize.ts'
import { discovery } from './endpoints/discovery.ts'
import { logout } from './endpoints/logout.ts'
import {
  changeRegisteredClient,
  registeredClient,
  registerOpenIdClient,
  registerRepresentation,
} from './endpoints/registration.ts'
import { token } from './endpoints/token.ts'
import { userinfo } from './endpoints/userinfo.ts'
import type { Handler, IdpReply, IdpRequest } from './http/idp-request.ts'
import { ProviderContext } from './provider-context.ts'
import type { ProviderState } from './provider-state.ts'
import { keySet } from './realm-keys.ts'

/** Endpoints of a provider (document 1, 4.4), and those that OpenID clients need besides. */
export function providerRoutes(state: ProviderState): Readonly<Record<string, Handler>> {
  const context = new ProviderContext(state)
  const using =
    (handler: (context: ProviderContext, request: IdpRequest) => IdpReply | Promise<IdpReply>): Handler =>
    (request) =>
      handler(context, request)
  const openid = '/realms/:realm/protocol/openid-connect'
  return {
    'GET /realms/:realm/.well-known/openid-configuration': using(discovery),
    [`GET ${openid}/certs`]: using((of, request) => ({ status: 200, json: keySet(of.realmOf(request).keys) })),
    [`POST ${openid}/token`]: using(token),
    [`GET ${openid}/auth`]: using(authorize),
    'POST /realms/:realm/login-actions/authenticate': using(submitLogin),
    [`GET ${openid}/userinfo`]: using(userinfo),
    [`POST ${openid}/userinfo`]: using(userinfo),
    [`GET ${openid}/logout`]: using(logout),
    [`POST ${openid}/logout`]: using(logout),
    'GET /realms/:realm/account': using(accountPage),
    'POST /realms/:realm/clients-registrations/default': using(registerRepresentation),
    'GET /realms/:realm/clients-registrations/default/:client': using(registeredClient),
    'PUT /realms/:realm/clients-registrations/default/:client': using(changeRegisteredClient),
    'POST /realms/:realm/clients-registrations/openid-connect': using(registerOpenIdClient),
    ...adminRoutes(context),
  }
}
