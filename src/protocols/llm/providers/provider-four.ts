import type { Head } from '#net/http/head.ts'
import type { ProviderBlock } from '../provider-schema.ts'
import { bearerToken, type Credential, fixedPaths, type HeaderEdits, type Provider } from './provider.ts'

/** Version of the messages API that is asked for when the client names none. */
export const MESSAGES_VERSION = '2023-06-01'

/** Tokens of this form are sent as bearer tokens; everything else is an API key. */
const OAUTH_TOKEN = 'sk-ant-oat'

/** With these the provider takes the caller for a browser and refuses. */
const BROWSER_FIELDS = [
  'origin',
  'access-control-request-method',
  'access-control-request-headers',
  'sec-fetch-site',
  'sec-fetch-mode',
  'sec-fetch-dest',
  'sec-fetch-user',
  'sec-fetch-storage-access',
]

/** The messages API; `base` is `/v1` or the configured prefix. */
export function buildProviderFour(block: ProviderBlock<'providerFour'>, base: string): Provider {
  const paths = { Messages: `${base}/messages`, MessagesTokenCount: `${base}/messages/count_tokens` }
  return {
    system: 'anthropic',
    host: 'api.anthropic.com',
    port: 443,
    pin: block.model,
    convert: fixedPaths(paths, ['Responses', 'Embeddings']),
    movesMaxTokens: false,
    headers: messagesHeaders,
  }
}

/**
 * The version only where the client sent none; a bearer key is moved to `x-api-key` unless its location is explicit or it is an
 * OAuth token (decision B20). A client's own bearer token is converted too when no auth policy consumed it.
 */
function messagesHeaders(request: Head, credential: Credential | undefined): HeaderEdits {
  const set: [string, string][] = []
  const remove = BROWSER_FIELDS.filter((name) => request.has(name))
  if (!request.has('anthropic-version')) set.push(['anthropic-version', MESSAGES_VERSION])
  const token = credential?.explicitLocation === true ? undefined : bearerToken(request)
  if (token === undefined) return { set, remove }
  if (token.startsWith(OAUTH_TOKEN)) remove.push('x-api-key')
  else {
    set.push(['x-api-key', token])
    remove.push('authorization')
  }
  return { set, remove }
}
