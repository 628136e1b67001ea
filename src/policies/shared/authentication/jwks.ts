import {
  backendObjectReference,
  defaulted,
  duration,
  exactlyOne,
  object,
  optional,
  type Parsed,
  pathText,
  required,
  secret,
  text,
} from '#schema/index.ts'

/** A key set fetched from a server (specification 1, 5.3). */
export const remoteJwks = object({
  jwksPath: required(pathText(2000), 'Path of the key set on the server, relative to its root.'),
  cacheDuration: defaulted(
    duration({ min: '5m' }),
    '5m',
    'How long a fetched key set is used before the gateway fetches it again.',
  ),
  backendRef: required(
    backendObjectReference('keySet'),
    'Service or static ProxyBackend of the key set server. Its TLS settings apply to the fetch.',
  ),
})

/** The keys of a token issuer: fetched or inline. */
export const jwks = exactlyOne(
  ['remote', 'inline'],
  object({
    remote: optional(remoteJwks, 'Fetch the key set from a server.'),
    inline: optional(secret(text({ min: 2, max: 65_536 }), 'key-set'), 'Inline JSON Web Key Set, as JSON text.'),
  }),
)

export type RemoteJwksSpec = Parsed<typeof remoteJwks>
export type JwksSpec = Parsed<typeof jwks>
