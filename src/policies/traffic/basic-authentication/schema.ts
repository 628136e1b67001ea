import {
  defaulted,
  described,
  enumOf,
  exactlyOne,
  headerText,
  list,
  object,
  optional,
  type Parsed,
  secret,
  secretReference,
  text,
} from '#schema/index.ts'
import { extractionLocation } from '../../shared/authentication/extraction-location.ts'

/** `traffic.basicAuthentication` (specification 1, 5.4). */
export const trafficBasicAuthentication = described(
  'HTTP Basic authentication.',
  exactlyOne(
    ['users', 'secretRef'],
    object({
      mode: defaulted(
        enumOf('Strict', 'Optional'),
        'Strict',
        'Strict: a valid user name and password are required. Optional: if the client sends credentials, they must be valid.',
      ),
      realm: defaulted(headerText(256), 'Restricted', 'Realm in the WWW-Authenticate challenge.'),
      users: optional(
        list(secret(text(), 'after-colon'), { min: 1, max: 256 }),
        'Users, as htpasswd lines: <username>:<password_hash>. Supported hashes: MD5, bcrypt, crypt, SHA-1. Plain-text passwords are not supported.',
      ),
      secretRef: optional(
        secretReference(['.htaccess']),
        'A Secret whose entry ".htaccess" is an htpasswd file, with the hashes of `users`.',
      ),
      location: optional(
        extractionLocation,
        'Where to read the credentials. When unset, the Authorization header with prefix "Basic".',
      ),
    }),
  ),
)

export type BasicAuthenticationSpec = Parsed<typeof trafficBasicAuthentication>
