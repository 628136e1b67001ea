import { authorityOf } from '#schema/index.ts'
import type { ProviderBlock } from '../settings/provider-schema.ts'
import type { Provider } from './provider.ts'
import { keyHeaders, knowsNewLimit, resourceModels, resourcePaths, resourceSessions } from './provider-three.ts'

/**
 * Azure OpenAI, by endpoint and deployment. The endpoint is used as the host, with the paths of resource type
 * one; the deployment is the pinned model.
 */
export function buildProviderTwo(block: ProviderBlock<'providerTwo'>): Provider {
  const { host, port } = parseEndpoint(block.endpoint)
  return {
    system: 'azure',
    host,
    port,
    pin: block.deploymentName,
    convert: resourcePaths(block.apiVersion),
    modelsPath: resourceModels(block.apiVersion),
    realtime: resourceSessions(block.apiVersion),
    movesMaxTokens: true,
    ...(knowsNewLimit(block.apiVersion) && { newLimit: 'everywhere' as const }),
    cloud: 'cloudTwo',
    headers: keyHeaders,
  }
}

/** `https://name.example:8443/` to host and port; a path after the authority is ignored. */
function parseEndpoint(endpoint: string): { host: string; port: number } {
  const authority = authorityOf(endpoint)
  const parts = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(authority)
  if (parts === null) return { host: authority, port: 443 }
  return { host: parts[1]!, port: parts[2] === undefined ? 443 : Number(parts[2]) }
}
