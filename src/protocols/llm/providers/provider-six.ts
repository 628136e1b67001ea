import type { ProviderBlock } from '../provider-schema.ts'
import { NO_EDITS, NOT_IMPLEMENTED, type Provider } from './provider.ts'

/** Vertex AI. Its formats are not implemented yet; Passthrough and Detect work. */
export function buildProviderSix(block: ProviderBlock<'providerSix'>): Provider {
  return {
    system: 'gcp.vertex_ai',
    host: platformHost(block.region ?? 'global'),
    port: 443,
    pin: block.model,
    convert: () => NOT_IMPLEMENTED,
    movesMaxTokens: false,
    cloud: 'cloudThree',
    headers: () => NO_EDITS,
  }
}

function platformHost(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  // Multi-region locations have separate hosts (decision B21).
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`
  return `${region}-aiplatform.googleapis.com`
}
