/** Below `src/`: a file, or a folder with all it holds. Here every mutant is tried; elsewhere a sample. */
export const CORE: readonly string[] = [
  // Authorization.
  'policies/traffic/authorization',
  'policies/shared/authorization/authorization.ts',
  'policies/shared/authorization/rules.ts',
  'protocols/mcp/config/authorization.ts',
  // Authentication.
  'policies/traffic/api-key-authentication',
  'policies/traffic/basic-authentication',
  'policies/shared/jwt',
  'policies/shared/sign-in',
  'workers/passwords',
  'policies/shared/authentication/credential-location.ts',
  'policies/shared/authentication/jwks.ts',
  'policies/shared/authentication/jwt.ts',
  'policies/shared/authentication/password-hash.ts',
  // Framing.
  'net/http',
  'net/http1',
  // Health.
  'state/endpoint-health.ts',
  'engine/backend/balance.ts',
  'policies/backend/health',
]

/** @returns whether `path` is one of `areas` or in one */
export function isIn(areas: readonly string[], path: string): boolean {
  return areas.some((area) => path === area || path.startsWith(`${area.replace(/\/$/, '')}/`))
}
