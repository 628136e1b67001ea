import { listProducts, meaningsOf } from '#base/products.ts'
import { defaulted, enumOf, json, list, mapOf, optional, text, withMeanings } from '#schema/index.ts'

const IDENTITY_PROVIDERS = ['IdpOne', 'IdpTwo', 'IdpThree'] as const

/** Shared by JWT authentication and the older MCP authentication (specification 1, 5.3). */
export const jwtMode = defaulted(
  enumOf('Strict', 'Optional', 'Permissive'),
  'Strict',
  'Strict: a valid token is required. Optional: if the client sends a token, it must be valid. Permissive: no request is refused; claims are read only from a valid token.',
)

export const audiences = optional(
  list(text(), { min: 1, max: 64 }),
  'Accepted values of the "aud" claim. A token must have at least one of them. When unset, any audience is accepted.',
)

export const mcpMetadataFields = {
  resourceMetadata: optional(
    mapOf(json()),
    'Metadata of this resource that the OAuth metadata endpoints of MCP serve.',
  ),
  provider: optional(
    withMeanings(meaningsOf(IDENTITY_PROVIDERS), enumOf(...IDENTITY_PROVIDERS)),
    `Identity provider. The gateway adapts its non-standard behavior for MCP clients. ${listProducts(IDENTITY_PROVIDERS)}`,
  ),
  clientId: optional(
    text(),
    'Client ID that the gateway returns for client registrations, instead of forwarding them to the identity provider.',
  ),
}
