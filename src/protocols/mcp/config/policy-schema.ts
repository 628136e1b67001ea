import { remoteJwks } from '#policies/shared/authentication/jwks.ts'
import { audiences, jwtMode, mcpMetadataFields } from '#policies/shared/authentication/jwt.ts'
import { authorization } from '#policies/shared/authorization/authorization.ts'
import { issuerBackend } from '#policies/shared/sign-in/issuer-url.ts'
import {
  deprecated,
  described,
  destination,
  notEmpty,
  object,
  optional,
  type Parsed,
  required,
  shortString,
} from '#schema/index.ts'

const mcpAuthentication = destination(
  object({
    ...mcpMetadataFields,
    issuer: optional(shortString(), 'Required value of the "iss" claim.'),
    audiences,
    jwks: required(remoteJwks, 'Key set of the issuer.'),
    mode: jwtMode,
  }),
  ({ issuer }: { readonly issuer?: string }) => issuerBackend(issuer),
)

/** `backend.mcp` (specification 2, 2.3). */
export const backendMcp = described(
  'Policies for MCP backends.',
  notEmpty(
    object({
      authorization: optional(
        authorization,
        'Authorization rules for MCP items. Items that are not allowed are removed from lists, and requests for them are refused.',
      ),
      authentication: deprecated(
        mcpAuthentication,
        'spec.traffic.jwtAuthentication.mcp',
        'Token validation for this backend. Deprecated: use traffic.jwtAuthentication.mcp, which runs before all other policies.',
      ),
    }),
  ),
)

export type McpAuthenticationSpec = Parsed<typeof mcpAuthentication>
export type BackendMcpSpec = Parsed<typeof backendMcp>
