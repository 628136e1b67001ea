import type { Head } from '#net/http/head.ts'
import { MESSAGES_VERSION } from '../dialects/messages/version-fields.ts'
import type { ProviderBlock } from '../settings/provider-schema.ts'
import {
  bearerToken,
  type Credential,
  fixedEndpoints,
  type HeaderEdits,
  messagesEndpoints,
  type Provider,
  UNSUPPORTED,
} from './provider.ts'

/** Tokens with this prefix are sent as bearer tokens; all others are API keys. */
const OAUTH_TOKEN = 'sk-ant-oat'

/** With these headers the provider assumes a browser and refuses the request. */
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

/** Anthropic: the messages API; `base` is `/v1` or the configured prefix. */
export function buildProviderFour(block: ProviderBlock<'providerFour'>, base: string): Provider {
  return {
    system: 'anthropic',
    host: 'api.anthropic.com',
    port: 443,
    pin: block.model,
    convert: fixedEndpoints(messagesEndpoints(base), UNSUPPORTED),
    // The longest page.
    modelsPath: `${base}/models?limit=1000`,
    movesMaxTokens: false,
    headers: messagesHeaders,
  }
}

/**
 * Sets the version only if the client sent none. Moves a bearer key to `x-api-key`, unless its location is explicit or it is an OAuth token
 * (decision B20). The client's own bearer token is moved, too, if no auth policy consumed it.
 */
function messagesHeaders(request: Head, credential: Credential | undefined): HeaderEdits {
  const set: [string, string][] = []
  const remove = BROWSER_FIELDS.filter((name) => request.has(name))
  if (!request.has('anthropic-version')) set.push(['anthropic-version', MESSAGES_VERSION])
  const token = credential?.location === 'elsewhere' ? undefined : bearerToken(request)
  if (token === undefined) return { set, remove }
  // A key of the client must not compete with it.
  if (token.startsWith(OAUTH_TOKEN) || credential?.location === 'authorization') remove.push('x-api-key')
  else {
    set.push(['x-api-key', token])
    remove.push('authorization')
  }
  return { set, remove }
}
