import {
  defaulted,
  described,
  enumOf,
  exactlyOne,
  object,
  optional,
  type Parsed,
  secretReference,
  secretSelector,
} from '#schema/index.ts'
import { extractionLocation } from '../../shared/extraction-location.ts'

/** `traffic.apiKeyAuthentication` (specification 1, 5.5). */
export const trafficApiKeyAuthentication = described(
  'Callers show an API key.',
  exactlyOne(
    ['secretRef', 'secretSelector'],
    object({
      mode: defaulted(
        enumOf('Strict', 'Optional', 'Permissive'),
        'Strict',
        'Strict: a known key is required. Optional: a key, if sent, must be known. Permissive: never refuse.',
      ),
      secretRef: optional(secretReference(), 'One Secret; each of its entries is a key.'),
      secretSelector: optional(secretSelector(), 'All Secrets of the namespace with these labels.'),
      location: optional(
        extractionLocation,
        'Where the key is read; the Authorization header with prefix "Bearer" when unset.',
      ),
    }),
  ),
)

export type ApiKeyAuthenticationSpec = Parsed<typeof trafficApiKeyAuthentication>
