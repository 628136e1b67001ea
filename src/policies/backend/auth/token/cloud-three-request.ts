import { fromByteText } from '#base/byte-text.ts'
import { missingKey } from '#base/missing-key.ts'
import { parseJson } from '#base/parse-json.ts'
import { PRODUCTS } from '#base/products.ts'
import type { PolicySource, SecretMaterial } from '../../../policy.ts'
import type { Unusable } from '../unusable.ts'
import type { BuildRequest } from './token-request.ts'

const ENTRY = 'credentials.json'

/** Members that the types of credentials need. Other types name servers and files of their own (docs/decisions/0221-cloud-credentials.md). */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  service_account: ['client_email', 'private_key'],
  authorized_user: ['client_id', 'client_secret', 'refresh_token'],
  impersonated_service_account: ['service_account_impersonation_url', 'source_credentials'],
}

/** An access token, or an ID token for an audience, of an account or of what the environment of the gateway names. */
export const cloudThreeRequest: BuildRequest = (source, destination, context) => {
  const { secretRef, type = 'AccessToken', audience } = source.spec.cloudThree ?? {}
  if (audience !== undefined && /[^!-~]/.test(audience)) {
    const why = 'contains a character that no audience has'
    return { code: 'credential-invalid', path: '.cloudThree.audience', why }
  }
  let credentials: string | undefined
  if (secretRef !== undefined) {
    const data = context.secret(source, secretRef.name)?.data
    const unusable = problemOf(source, secretRef.name, data)
    if (unusable !== undefined) return unusable
    credentials = fromByteText(data![ENTRY]!)
  }
  const forAudience = type === 'IdToken' ? (audience ?? audienceOf(destination?.hostname)) : undefined
  if (type === 'IdToken' && forAudience === undefined && destination !== undefined) {
    const why = 'the backend has no hostname that could be the audience of the ID token; set audience'
    return { code: 'credential-incomplete', path: '.cloudThree', why }
  }
  const from =
    secretRef === undefined ? 'the environment of the gateway' : `Secret ${source.origin.namespace}/${secretRef.name}`
  const token = forAudience === undefined ? 'access token' : `ID token for ${forAudience}`
  const label = `${token} of ${PRODUCTS.cloudThree} from ${from}`
  const request = { cloud: 'cloudThree', audience: forAudience } as const
  return { request: credentials === undefined ? request : { ...request, credentials }, label }
}

function audienceOf(hostname: string | undefined): string | undefined {
  return hostname === undefined ? undefined : `https://${hostname}`
}

function problemOf(
  { origin }: PolicySource<unknown>,
  secret: string,
  data: SecretMaterial['data'] | undefined,
): Unusable | undefined {
  const path = '.cloudThree.secretRef'
  const missing = missingKey({ kind: 'Secret', namespace: origin.namespace, name: secret }, data, [ENTRY])
  if (missing !== undefined) return { code: 'secret-missing', path, why: missing }
  const why = faultOf(parse(data![ENTRY]!))
  if (why === undefined) return undefined
  return { code: 'credential-invalid', path, why: `entry ${ENTRY} of Secret ${secret} ${why}` }
}

function faultOf(file: unknown): string | undefined {
  if (typeof file !== 'object' || file === null) return 'is not a JSON object'
  const { type } = file as { readonly type?: unknown }
  const members = typeof type === 'string' && Object.hasOwn(MEMBERS, type) ? MEMBERS[type] : undefined
  if (members === undefined) return `must have one of the types ${Object.keys(MEMBERS).join(', ')}`
  const missing = members.find((name) => (file as Readonly<Record<string, unknown>>)[name] === undefined)
  if (missing !== undefined) return `has no member ${missing}`
  if (type !== 'impersonated_service_account') return undefined
  const why = faultOf((file as { readonly source_credentials: unknown }).source_credentials)
  return why && `has source_credentials that cannot be used: the object ${why}`
}

function parse(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
