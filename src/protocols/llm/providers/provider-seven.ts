import type { ProviderBlock } from '../provider-schema.ts'
import { NO_EDITS, NOT_IMPLEMENTED, type Provider } from './provider.ts'

/** Amazon Bedrock. Its formats are not implemented yet; Passthrough and Detect work. */
export function buildProviderSeven(block: ProviderBlock<'providerSeven'>): Provider {
  const region = block.region ?? 'us-east-1'
  return {
    system: 'aws.bedrock',
    host: `bedrock-runtime.${region}.amazonaws.com`,
    port: 443,
    pin: block.model,
    convert: () => NOT_IMPLEMENTED,
    movesMaxTokens: false,
    cloud: 'cloudOne',
    signing: { service: 'bedrock', region },
    headers: () => NO_EDITS,
  }
}
