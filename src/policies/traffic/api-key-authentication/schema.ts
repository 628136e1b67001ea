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
import { extractionLocation } from '../../shared/authentication/extraction-location.ts'

/** `traffic.apiKeyAuthentication` (specification 1, 5.5). */
export const trafficApiKeyAuthentication = described(
  'Authentication with API keys.',
  exactlyOne(
    ['secretRef', 'secretSelector'],
    object({
      mode: defaulted(
        enumOf('Strict', 'Optional', 'Permissive'),
        'Strict',
        'Strict: a known key is required. Optional: if the client sends a key, it must be known. Permissive: no request is refused.',
      ),
      secretRef: optional(secretReference(), 'One Secret. Each of its entries is a key.'),
      secretSelector: optional(secretSelector(), 'All Secrets with these labels in the namespace of the policy.'),
      location: optional(
        extractionLocation,
        'Where to read the key. When unset, the Authorization header with prefix "Bearer".',
      ),
    }),
  ),
)

export type ApiKeyAuthenticationSpec = Parsed<typeof trafficApiKeyAuthentication>
