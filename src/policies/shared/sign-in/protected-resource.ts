import type { Json, JsonObject } from '#base/json.ts'
import { type SignInPlan, standsIn } from './sign-in-plan.ts'

/** The metadata of a protected resource (RFC 9728, 2). Configured members win. @param path of the resource; empty: the origin itself */
export function protectedResource(plan: SignInPlan, origin: string, path: string): JsonObject {
  const { issuers, metadata } = plan
  const resource = origin + path
  return {
    resource,
    authorization_servers: standsIn(plan) ? [resource] : issuers,
    mcp_protocol_version: '2025-06-18',
    resource_type: 'mcp-server',
    ...metadata,
  }
}

/** Members with the names of the RFC: `scopesSupported` becomes `scopes_supported` (decision B74). */
export function resourceMetadata(configured: Readonly<Record<string, unknown>> = {}): JsonObject {
  return Object.fromEntries(Object.entries(configured).map(([name, value]) => [snakeCase(name), value as Json]))
}

function snakeCase(name: string): string {
  if (name.includes('_')) return name
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
}
