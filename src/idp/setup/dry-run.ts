import { memberOf } from './answer-text.ts'
import type { IdpAnswer, IdpCall, SendCall } from './idp-call.ts'
import { hideSecrets } from './sent-secrets.ts'
import type { SetupOptions } from './set-up.ts'
import { adminPath } from './setup-context.ts'

/** A call that would be sent, without secrets. */
export interface ShownCall {
  readonly method: string
  readonly url: string
  readonly authorization?: string
  readonly form?: unknown
  readonly json?: unknown
}

/** A call as lines of text. */
export function shownLines({ method, url, authorization, form, json }: ShownCall): readonly string[] {
  return [
    `${method} ${url}`,
    ...(authorization === undefined ? [] : [`  Authorization: ${authorization}`]),
    ...(form === undefined ? [] : [`  form ${JSON.stringify(form)}`]),
    ...(json === undefined ? [] : [`  ${JSON.stringify(json)}`]),
  ]
}

/**
 * Answers the calls of the procedure as a new provider would, and shows each call. Nothing is sent.
 */
export function dryRun({ url, realm, users }: SetupOptions, show: (call: ShownCall) => void): SendCall {
  const root = url.origin
  const groups = new Map(users.map(({ username, group }) => [username, group]))
  const created = new Set<string>()
  return async (call) => {
    const isAdmin = call.path.startsWith('/admin/')
    show({
      method: call.method,
      // Ids that a provider would give stand in braces.
      url: root + call.path.replace(/%7B(\w+)%7D/g, '{$1}'),
      ...(call.token === undefined ? {} : { authorization: `Bearer ${isAdmin ? '{admin_token}' : '{initial_token}'}` }),
      ...(call.form === undefined ? {} : { form: hideSecrets(call.form) }),
      ...(call.json === undefined ? {} : { json: hideSecrets(call.json) }),
    })
    const { pathname, searchParams } = new URL(call.path, url)
    if (call.method === 'POST') created.add(pathname + nameIn(call.json))
    return { status: 200, json: answerTo(call, pathname, searchParams) }
  }

  function answerTo({ form }: IdpCall, path: string, query: URLSearchParams): IdpAnswer['json'] {
    const [clientId, username] = [query.get('clientId') ?? '', query.get('username') ?? '']
    switch (path.slice(path.lastIndexOf('/'))) {
      case '/token':
        return { access_token: unsigned({ group: groups.get(form?.username ?? ''), aud: 'account' }) }
      case '/clients-initial-access':
        return { token: '{initial_token}' }
      case '/default':
        created.add(`${adminPath(realm)}/clients`)
        return { id: '{client_uuid}', secret: '{client_secret}' }
      case '/clients':
        return created.has(path) ? [{ id: '{client_uuid}', clientId }] : []
      case '/users':
        return created.has(path + username) ? [{ id: '{user_id}', username }] : []
      case '/models':
        return []
      case '/components':
        return [{ id: '{component_id}', providerId: 'trusted-hosts' }]
      case '/openid-configuration':
        return discovery()
      default:
        return {}
    }
  }

  function discovery() {
    const issuer = `${root}/realms/${encodeURIComponent(realm)}`
    return { issuer, jwks_uri: `${issuer}/protocol/openid-connect/certs` }
  }
}

/** The name of a user that is created; '' for everything else. */
function nameIn(json: unknown): string {
  const name = memberOf(json, 'username')
  return typeof name === 'string' ? name : ''
}

/** A token for the procedure itself. */
function unsigned(claims: object): string {
  return `.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`
}
