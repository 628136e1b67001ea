import type { ProviderBlock } from '../provider-schema.ts'
import { fixedPaths, NO_EDITS, type Provider } from './provider.ts'

/** Gemini, with its endpoints that are compatible with chat completions. */
export function buildProviderFive(block: ProviderBlock<'providerFive'>): Provider {
  const paths = {
    Completions: '/v1beta/openai/chat/completions',
    Embeddings: '/v1beta/openai/embeddings',
  }
  return {
    system: 'gcp.gemini',
    host: 'generativelanguage.googleapis.com',
    port: 443,
    pin: block.model,
    convert: fixedPaths(paths, []),
    movesMaxTokens: false,
    headers: () => NO_EDITS,
  }
}
