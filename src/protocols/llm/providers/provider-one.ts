import type { ProviderBlock } from '../settings/provider-schema.ts'
import { chatEndpoints, fixedEndpoints, NO_EDITS, type Provider } from './provider.ts'

/** Also of the moderation endpoint. */
export const PROVIDER_ONE_HOST = 'api.openai.com'

/** OpenAI: the chat completions API; `base` is `/v1` or the configured prefix. */
export function buildProviderOne(block: ProviderBlock<'providerOne'>, base: string): Provider {
  return {
    system: 'openai',
    host: PROVIDER_ONE_HOST,
    port: 443,
    pin: block.model,
    convert: fixedEndpoints(chatEndpoints(base)),
    modelsPath: `${base}/models`,
    realtime: () => ({ path: `${base}/realtime`, parameter: 'model' }),
    movesMaxTokens: true,
    // Other servers with this API may know the old name only.
    newLimit: 'at-own-host',
    headers: () => NO_EDITS,
  }
}
