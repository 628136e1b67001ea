import { memberOf } from './answer-text.ts'
import type { IdpAnswer, IdpCall, SendCall } from './idp-call.ts'
import type { SetupOptions } from './set-up.ts'
import { adminPath } from './setup-context.ts'

/** Members of bodies that nobody may read over a shoulder. */
const SECRETS: readonly string[] = ['password', 'client_secret', 'value']

/**
 * Answers the calls of the procedure as a new provider would, and shows each call. Nothing is sent.
 * @param show a line of text
 */
export function dryRun({ url, realm, users }: SetupOptions, show: (line: string) => void): SendCall {
  const root = url.href.replace(/\/$/, '')
  const groups = new Map(users.map(({ username, group }) => [username, group]))
  const created = new Set<string>()
  return async (call) => {
    // Ids that a provider would give stand in braces.
    show(`${call.method} ${root}${call.path.replace(/%7B(\w+)%7D/g, '{$1}')}`)
    if (call.token !== undefined)
      show(`  Authorization: Bearer ${call.path.startsWith('/admin/') ? '{admin_token}' : '{initial_token}'}`)
    const body = call.form ?? call.json
    if (body !== undefined) {
      const shown = JSON.stringify(body, (name, value) => (SECRETS.includes(name) ? '***' : value))
      show(`  ${call.form === undefined ? '' : 'form '}${shown}`)
    }
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
