import { meaningsOf, PRODUCTS } from '#base/products.ts'
import {
  type ConfigProblem,
  defaulted,
  described,
  enumOf,
  exactlyOne,
  fieldPath,
  object,
  optional,
  type Parsed,
  problem,
  required,
  secret,
  secretReference,
  shortString,
  text,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { insertionLocation } from '../../shared/authentication/extraction-location.ts'

const cloudOne = object({
  secretRef: required(
    secretReference(['accessKey'], ['secretKey']),
    'A Secret with "accessKey", "secretKey" and, for temporary credentials, "sessionToken".',
  ),
  serviceName: optional(
    shortString(),
    'Service name in the request signature. Not needed for typed backends, which define it.',
  ),
})

const cloudTwo = object({
  secretRef: optional(
    secretReference(['clientID'], ['tenantID'], ['clientSecret']),
    'A Secret with "clientID", "tenantID" and "clientSecret".',
  ),
  managedIdentity: optional(
    object({
      clientId: required(text(), 'Client ID of the identity.'),
      objectId: required(text(), 'Object ID of the identity.'),
      resourceId: required(text(), 'Resource ID of the identity.'),
    }),
    'A user-assigned managed identity.',
  ),
})

function checkAudience(
  spec: { readonly type: string; readonly audience?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.audience === undefined || spec.type === 'IdToken') return []
  return [problem(fieldPath(path, 'audience'), 'not-together', 'audience can only be set with type IdToken')]
}

const cloudThree = withRule(
  object({
    type: defaulted(
      enumOf('AccessToken', 'IdToken'),
      'AccessToken',
      'AccessToken: for the APIs of the cloud. IdToken: for services that run on its serverless platforms.',
    ),
    secretRef: optional(
      secretReference(['credentials.json']),
      'A Secret with "credentials.json". When unset, ambient credentials.',
    ),
    audience: optional(
      shortString(),
      'Audience of the token, for type IdToken. When unset, the host name of the backend.',
    ),
  }),
  {
    reads: ['type'],
    description: 'audience can only be set with type IdToken.',
    check: checkAudience,
    onServer: "!has(self.audience) || self.type == 'IdToken'",
  },
)

const KINDS = ['key', 'secretRef', 'passthrough', 'cloudOne', 'cloudTwo', 'cloudThree'] as const
const WITH_LOCATION = ['key', 'secretRef', 'passthrough'] as const

/** A cloud credential has a fixed location in the request (decision A-104). */
function checkLocation(
  spec: { readonly location?: unknown } & { readonly [K in (typeof WITH_LOCATION)[number]]?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.location === undefined || WITH_LOCATION.some((kind) => spec[kind] !== undefined)) return []
  const message = `location can only be set with ${WITH_LOCATION.join(', ')}`
  return [problem(fieldPath(path, 'location'), 'not-together', message)]
}

const MEANINGS = {
  ...meaningsOf(['cloudOne', 'cloudTwo', 'cloudThree']),
  apikey: 'use "secretRef", or "key" for the credential itself',
  token: 'use "secretRef", or "key" for the credential itself',
  bearer: 'use "secretRef", or "key" for the credential itself',
}

/** `backend.auth` (specification 1, 5.6): credentials towards the backend. */
export const backendAuth = described(
  'Credentials to send to the backend.',
  withRule(
    withMeanings(
      MEANINGS,
      exactlyOne(
        KINDS,
        object({
          key: optional(secret(text({ max: 2048 })), 'The credential itself. Least secure: prefer secretRef.'),
          secretRef: optional(
            secretReference(['Authorization']),
            'A Secret whose entry "Authorization" is the credential.',
          ),
          passthrough: optional(
            object({}),
            "Forward the client's credential after an authentication policy has validated it.",
          ),
          cloudOne: optional(
            cloudOne,
            `Signs requests for ${PRODUCTS.cloudOne} with this Secret. Without it, the default credential chain applies.`,
          ),
          cloudTwo: optional(cloudTwo, `A token of ${PRODUCTS.cloudTwo}.`),
          cloudThree: optional(cloudThree, `A token of ${PRODUCTS.cloudThree}.`),
          location: optional(
            insertionLocation,
            'Where to write the credential, for key, secretRef and passthrough. When unset, the Authorization header with prefix "Bearer".',
          ),
        }),
      ),
    ),
    {
      reads: [],
      description: 'location can only be set with key, secretRef or passthrough.',
      check: checkLocation,
      onServer: `!has(self.location) || ${WITH_LOCATION.map((kind) => `has(self.${kind})`).join(' || ')}`,
    },
  ),
)

export type BackendAuthSpec = Parsed<typeof backendAuth>

/** What the policy does: as configured, or without a policy as the type of the backend implies. */
export type AuthForm = Omit<BackendAuthSpec, 'cloudOne'> & {
  readonly cloudOne?: Partial<NonNullable<BackendAuthSpec['cloudOne']>>
  /** There is no policy; problems are those of the backend. */
  readonly implied?: true
}
