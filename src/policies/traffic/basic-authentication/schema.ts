import {
  defaulted,
  described,
  enumOf,
  exactlyOne,
  list,
  object,
  optional,
  type Parsed,
  secret,
  secretReference,
  text,
} from '#schema/index.ts'
import { extractionLocation } from '../../shared/extraction-location.ts'

/** `traffic.basicAuthentication` (specification 1, 5.4). */
export const trafficBasicAuthentication = described(
  'Callers show a user and a password.',
  exactlyOne(
    ['users', 'secretRef'],
    object({
      mode: defaulted(
        enumOf('Strict', 'Optional'),
        'Strict',
        'Strict: a valid user and password are required. Optional: they are checked if sent.',
      ),
      realm: defaulted(text(), 'Restricted', 'Realm named in the challenge to callers that are refused.'),
      users: optional(
        list(secret(text(), 'after-colon'), { min: 1, max: 256 }),
        'Users, one htpasswd line each: <username>:<password_hash>. Hashes: MD5, bcrypt, crypt, SHA-1; never the password itself.',
      ),
      secretRef: optional(
        secretReference(['.htaccess', 'users']),
        'A Secret whose entry ".htaccess" is a whole htpasswd file.',
      ),
      location: optional(
        extractionLocation,
        'Where the credentials are read; the Authorization header with prefix "Basic" when unset.',
      ),
    }),
  ),
)

export type BasicAuthenticationSpec = Parsed<typeof trafficBasicAuthentication>
