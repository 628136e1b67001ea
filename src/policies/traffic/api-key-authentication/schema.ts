import {
  defaulted,
  enumOf,
  exactlyOne,
  localObjectReference,
  mapOf,
  object,
  optional,
  type Parsed,
  required,
  text,
} from '#schema/index.ts'
import { extractionLocation } from '../../shared/extraction-location.ts'

/** `traffic.apiKeyAuthentication` (specification 1, 5.5). */
export const apiKeyAuthentication = exactlyOne(
  ['secretRef', 'secretSelector'],
  object({
    mode: defaulted(
      enumOf('Strict', 'Optional', 'Permissive'),
      'Strict',
      'Strict: a known key is required. Optional: a key, if sent, must be known. Permissive: never refuse.',
    ),
    secretRef: optional(localObjectReference(), 'One Secret; each of its entries is a key.'),
    secretSelector: optional(
      object({ matchLabels: required(mapOf(text()), 'Labels that a Secret must have, each with this value.') }),
      'All Secrets of the namespace with these labels.',
    ),
    location: optional(
      extractionLocation,
      'Where the key is read; the Authorization header with prefix "Bearer" when unset.',
    ),
  }),
)

export type ApiKeyAuthenticationSpec = Parsed<typeof apiKeyAuthentication>
