import type { IdpReply, IdpRequest } from '../http/idp-request.ts'
import type { ProviderContext } from '../provider-context.ts'
import type { Realm } from '../realm.ts'

/** Answers a request of an administrator about a realm. @throws IdpError */
export type AdminHandler = (realm: Realm, request: IdpRequest, context: ProviderContext) => IdpReply | Promise<IdpReply>
