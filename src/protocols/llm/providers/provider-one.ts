import type { ProviderBlock } from '../provider-schema.ts'
import { fixedPaths, NO_EDITS, type Provider } from './provider.ts'

/** OpenAI: the chat completions API; `base` is `/v1` or the configured prefix. */
export function buildProviderOne(block: ProviderBlock<'providerOne'>, base: string): Provider {
  const paths = {
    Completions: `${base}/chat/completions`,
    Responses: `${base}/responses`,
    Embeddings: `${base}/embeddings`,
  }
  return {
    system: 'openai',
    host: 'api.openai.com',
    port: 443,
    pin: block.model,
    convert: fixedPaths(paths, []),
    movesMaxTokens: true,
    headers: () => NO_EDITS,
  }
}
