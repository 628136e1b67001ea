import { described, list, object, optional, type Parsed, required, shortString } from '#schema/index.ts'
import { extractionLocation } from '../../shared/extraction-location.ts'
import { jwks } from '../../shared/jwks.ts'
import { audiences, jwtMode, mcpMetadataFields } from '../../shared/jwt.ts'

const jwtProvider = object({
  issuer: required(shortString(), 'The claim "iss" of its tokens, compared exactly.'),
  audiences,
  jwks: required(jwks, 'Its keys.'),
})

const jwtMcp = object(mcpMetadataFields)

/** `traffic.jwtAuthentication` (specification 1, 5.3). */
export const trafficJwtAuthentication = described(
  'Callers show a JSON Web Token.',
  object({
    mode: jwtMode,
    providers: required(list(jwtProvider, { min: 1, max: 64 }), 'Issuers whose tokens are accepted.'),
    location: optional(
      extractionLocation,
      'Where the token is read; the Authorization header with prefix "Bearer" when unset.',
    ),
    mcp: optional(jwtMcp, 'Serve the MCP OAuth metadata endpoints and answer as MCP clients expect.'),
  }),
)

export type JwtProviderSpec = Parsed<typeof jwtProvider>
export type JwtMcpSpec = Parsed<typeof jwtMcp>
export type JwtAuthenticationSpec = Parsed<typeof trafficJwtAuthentication>
