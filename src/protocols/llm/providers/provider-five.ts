import type { ProviderBlock } from '../provider-schema.ts'
import { type Endpoints, fixedEndpoints, NO_EDITS, type Provider } from './provider.ts'

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
    headers: () => NO_EDITS,
  }
}
