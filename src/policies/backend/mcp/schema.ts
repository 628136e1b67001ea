import { deprecated, described, notEmpty, object, optional, type Parsed, required, shortString } from '#schema/index.ts'
import { authorization } from '../../shared/authorization.ts'
import { remoteJwks } from '../../shared/jwks.ts'
import { audiences, jwtMode, mcpMetadataFields } from '../../shared/jwt.ts'

const mcpAuthentication = object({
  ...mcpMetadataFields,
  issuer: optional(shortString(), 'The claim "iss" of accepted tokens.'),
  audiences,
  jwks: required(remoteJwks, 'The keys of the issuer.'),
  mode: jwtMode,
})

/** `backend.mcp` (specification 2, 2.3). */
export const backendMcp = described(
  'Settings for MCP backends.',
  notEmpty(
    object({
      authorization: optional(
        authorization,
        'Rules on MCP items: lists are filtered by them, and a request for an item that does not satisfy them is refused.',
      ),
      authentication: deprecated(
        mcpAuthentication,
        'spec.traffic.jwtAuthentication.mcp',
        'Token validation on the backend. Deprecated: traffic.jwtAuthentication.mcp does the same before all other policies.',
      ),
    }),
  ),
)

export type McpAuthenticationSpec = Parsed<typeof mcpAuthentication>
export type BackendMcpSpec = Parsed<typeof backendMcp>
