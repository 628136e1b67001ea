import {
  backendObjectReference,
  defaulted,
  duration,
  exactlyOne,
  object,
  optional,
  type Parsed,
  required,
  secret,
  text,
} from '#schema/index.ts'

/** A key set fetched from a server (specification 1, 5.3). */
export const remoteJwks = object({
  jwksPath: required(text({ min: 1, max: 2000 }), 'Path of the key set, relative to the root of the server.'),
  cacheDuration: defaulted(
    duration({ min: '5m' }),
    '5m',
    'How long a fetched key set is used before it is fetched again.',
  ),
  backendRef: required(
    backendObjectReference('keySet'),
    'The server: a Service or a static ProxyBackend. Its TLS settings apply to the fetch.',
  ),
})

/** The keys of a token issuer: fetched or written out. */
export const jwks = exactlyOne(
  ['remote', 'inline'],
  object({
    remote: optional(remoteJwks, 'Fetched from a server.'),
    inline: optional(secret(text({ min: 2, max: 65_536 })), 'The JSON Web Key Set itself, as JSON text.'),
  }),
)

export type RemoteJwksSpec = Parsed<typeof remoteJwks>
export type JwksSpec = Parsed<typeof jwks>
