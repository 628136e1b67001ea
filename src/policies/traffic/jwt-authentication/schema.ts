import { described, destination, list, object, optional, type Parsed, required, shortString } from '#schema/index.ts'
import { extractionLocation } from '../../shared/authentication/extraction-location.ts'
import { jwks } from '../../shared/authentication/jwks.ts'
import { audiences, jwtMode, mcpMetadataFields } from '../../shared/authentication/jwt.ts'
import { issuerBackend } from '../../shared/sign-in/issuer-url.ts'

const jwtProvider = object({
  issuer: required(shortString(), 'Required value of the "iss" claim, compared exactly.'),
  audiences,
  jwks: required(jwks, 'Key set of the issuer.'),
})

const jwtMcp = object(mcpMetadataFields)

/** `traffic.jwtAuthentication` (specification 1, 5.3). */
export const trafficJwtAuthentication = described(
  'Authentication with JSON Web Tokens (JWT).',
  destination(
    object({
      mode: jwtMode,
      providers: required(list(jwtProvider, { min: 1, max: 64 }), 'Trusted token issuers.'),
      location: optional(
        extractionLocation,
        'Where to read the token. When unset, the Authorization header with prefix "Bearer".',
      ),
      mcp: optional(jwtMcp, 'Serve the OAuth metadata endpoints of MCP and respond as MCP clients expect.'),
    }),
    // The server of the first issuer, which has the metadata that clients need.
    ({
      mcp,
      providers: [first],
    }: {
      readonly mcp?: object
      readonly providers: readonly { readonly issuer: string }[]
    }) => mcp && issuerBackend(first?.issuer),
  ),
)

export type JwtProviderSpec = Parsed<typeof jwtProvider>
export type JwtMcpSpec = Parsed<typeof jwtMcp>
export type JwtAuthenticationSpec = Parsed<typeof trafficJwtAuthentication>
