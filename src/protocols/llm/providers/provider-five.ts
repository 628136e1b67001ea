import type { Head } from '#net/http/head.ts'
import type { ProviderBlock } from '../settings/provider-schema.ts'
import {
  bearerToken,
  type Credential,
  competingKeys,
  type Endpoints,
  fixedEndpoints,
  type HeaderEdits,
  type Provider,
} from './provider.ts'

/** Gemini, with its endpoints that are compatible with chat completions. */
export function buildProviderFive(block: ProviderBlock<'providerFive'>): Provider {
  const chat = '/v1beta/openai/chat/completions'
  const endpoints: Endpoints = {
    Completions: ['completions', chat],
    Messages: ['completions', chat],
    Responses: ['completions', chat],
    Embeddings: ['embeddings', '/v1beta/openai/embeddings'],
  }
  return {
    system: 'gcp.gemini',
    host: 'generativelanguage.googleapis.com',
    port: 443,
    pin: block.model,
    convert: fixedEndpoints(endpoints),
    modelsPath: '/v1beta/openai/models',
    movesMaxTokens: false,
    headers: keyHeaders,
  }
}

/** Keys of the vendor for its API; all else are tokens. */
const API_KEY = 'AIza'
/** The vendor's native endpoints, which as-is routes reach; those that are compatible with chat completions take keys as bearer tokens. */
const NATIVE = /^\/(?:upload\/)?v1(?:alpha|beta)?\/(?!openai\/)/
export const KEY_FIELD = 'x-goog-api-key'

/** Native endpoints take keys in a field of their own. The client's own key is moved, too, if no auth policy consumed it. */
function keyHeaders(request: Head, credential: Credential | undefined, path: string): HeaderEdits {
  const token = credential === undefined || credential.location === 'usual' ? bearerToken(request) : undefined
  if (token?.startsWith(API_KEY) === true && NATIVE.test(path))
    return { set: [[KEY_FIELD, token]], remove: ['authorization'] }
  return { set: [], remove: competingKeys(request, credential, [KEY_FIELD]) }
}
