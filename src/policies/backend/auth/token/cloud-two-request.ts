import { trimSpace } from '#base/byte-text.ts'
import { missingKey } from '#base/missing-key.ts'
import { PRODUCTS } from '#base/products.ts'
import type { PolicySource, SecretMaterial } from '../../../policy.ts'
import type { CredentialRequest } from '../../../shared/clouds/cloud-credential.ts'
import type { Unusable } from '../unusable.ts'
import type { BuildRequest } from './token-request.ts'

type ManagedIdentity = Readonly<Record<'clientId' | 'objectId' | 'resourceId', string>>
type Request = Extract<CredentialRequest, { readonly cloud: 'cloudTwo' }>

const ENTRIES = ['clientID', 'tenantID', 'clientSecret'] as const
const COGNITIVE_SERVICES = 'https://cognitiveservices.azure.com/.default'
const AI_SERVICES = 'https://ai.azure.com/.default'

/** A token of an application (its secret), of a managed identity, or of what the environment of the gateway names. */
export const cloudTwoRequest: BuildRequest = (source, destination, context) => {
  const { secretRef, managedIdentity } = source.spec.cloudTwo ?? {}
  const scope = scopeOf(destination?.hostname)
  const labelled = (from: string) => `token of ${PRODUCTS.cloudTwo} for ${scope} from ${from}`
  if (secretRef !== undefined) {
    const client = clientIn(source, secretRef.name, context.secret(source, secretRef.name)?.data)
    if ('why' in client) return client
    const label = labelled(`Secret ${source.origin.namespace}/${secretRef.name}`)
    return { request: { cloud: 'cloudTwo', scope, client }, label }
  }
  if (managedIdentity === undefined) {
    return { request: { cloud: 'cloudTwo', scope }, label: labelled('the environment of the gateway') }
  }
  const identity = identityIn(managedIdentity)
  if ('why' in identity) return identity
  return { request: { cloud: 'cloudTwo', scope, identity }, label: labelled(`managed identity ${identity.value}`) }
}

/** The API that the token is for, by the host. */
function scopeOf(hostname: string | undefined): string {
  return hostname?.toLowerCase().endsWith('.services.ai.azure.com') === true ? AI_SERVICES : COGNITIVE_SERVICES
}

function clientIn(
  { origin }: PolicySource<unknown>,
  secret: string,
  data: SecretMaterial['data'] | undefined,
): NonNullable<Request['client']> | Unusable {
  const path = '.cloudTwo.secretRef'
  const holder = { kind: 'Secret', namespace: origin.namespace, name: secret } as const
  const why = missingKey(holder, data, ...ENTRIES.map((entry) => [entry]))
  if (data === undefined || why !== undefined) return { code: 'secret-missing', path, why: why! }
  const [clientId, tenantId, clientSecret] = ENTRIES.map((entry) => trimSpace(data[entry]!)) as [string, string, string]
  const bad =
    clientId === '' ? 'clientID' : /^[\w.-]+$/.test(tenantId) ? clientSecret === '' && 'clientSecret' : 'tenantID'
  if (bad) return { code: 'credential-invalid', path, why: `entry ${bad} of Secret ${secret} is empty or not valid` }
  return { clientId, tenantId, secret: clientSecret }
}

/** The endpoints take one name of an identity: the first that is not empty. */
function identityIn(spec: ManagedIdentity): NonNullable<Request['identity']> | Unusable {
  const path = '.cloudTwo.managedIdentity'
  const bad = (['clientId', 'objectId', 'resourceId'] as const).find((name) => /[^!-~]/.test(spec[name]))
  if (bad !== undefined) {
    return { code: 'credential-invalid', path: `${path}.${bad}`, why: 'contains a character that no such id has' }
  }
  const { clientId, objectId, resourceId } = spec
  if (clientId !== '') return { parameter: 'client_id', value: clientId }
  if (objectId !== '') return { parameter: 'object_id', value: objectId }
  if (resourceId !== '') return { parameter: 'msi_res_id', value: resourceId }
  const why = 'clientId, objectId and resourceId are empty; one of them must name the identity'
  return { code: 'credential-incomplete', path, why }
}
