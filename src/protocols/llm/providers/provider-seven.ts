import type { ProviderBlock } from '../provider-schema.ts'
import { NO_EDITS, NOT_IMPLEMENTED, type Provider } from './provider.ts'

/** Amazon Bedrock. Its formats are not implemented yet; Passthrough and Detect work. */
export function buildProviderSeven(block: ProviderBlock<'providerSeven'>): Provider {
  return {
    system: 'aws.bedrock',
    host: `bedrock-runtime.${block.region ?? 'us-east-1'}.amazonaws.com`,
    port: 443,
    pin: block.model,
    convert: () => NOT_IMPLEMENTED,
    movesMaxTokens: false,
    headers: () => NO_EDITS,
  }
}
