import { defaulted, enumOf, json, list, mapOf, optional, text } from '#schema/index.ts'

/** What JWT authentication and the older MCP authentication have in common (specification 1, 5.3). */
export const jwtMode = defaulted(
  enumOf('Strict', 'Optional', 'Permissive'),
  'Strict',
  'Strict: a valid token is required. Optional: a token, if sent, must be valid. Permissive: never refuse; claims come only from a valid token.',
)

export const audiences = optional(
  list(text(), { min: 1, max: 64 }),
  'Accepted values of the claim "aud"; any of them will do. Unset: any audience is accepted.',
)

export const mcpMetadataFields = {
  resourceMetadata: optional(mapOf(json()), 'What the MCP OAuth metadata endpoints serve about this resource.'),
  provider: optional(
    enumOf('IdpOne', 'IdpTwo', 'IdpThree'),
    'The identity provider whose peculiarities are smoothed out for MCP clients.',
  ),
  clientId: optional(
    text(),
    'Answer client registrations with this client id instead of passing them on to the identity provider.',
  ),
}
