import { readFile } from 'node:fs/promises'
import { isFieldValue } from '#net/http/field-syntax.ts'
import type { Credential, RequestTo } from '#policies/shared/clouds/cloud-credential.ts'
import { CredentialError, causeOf } from './credential-error.ts'
import { askEndpoint, parseObject } from './token-answer.ts'

/**
 * Tokens of Microsoft Entra ID by its three documented calls: client credentials with a secret, client credentials with a federated token
 * (workload identity), and managed identity (docs/decisions/0221-cloud-credentials.md).
 */

type Environment = Readonly<Record<string, string | undefined>>
type Request = RequestTo<'cloudTwo'>

/** One call to a token endpoint. */
interface TokenCall {
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with POST; undefined: GET. */
  readonly form?: Readonly<Record<string, string>>
}

const AUTHORITY = 'https://login.microsoftonline.com'
const METADATA_SERVER = 'http://169.254.169.254'
const FEDERATED = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

export async function obtainToken(
  request: Request,
  signal: AbortSignal,
  env: Environment = process.env,
): Promise<Credential> {
  const { url, headers = {}, form } = await tokenCall(request, env)
  const sent = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
  const { text } = await askEndpoint(url, { ...sent, headers, signal })
  return readToken(text, url.origin)
}

/** The first source that is configured: the policy, then the environment. Another one is not tried if it fails. */
async function tokenCall({ scope, client, identity }: Request, env: Environment): Promise<TokenCall> {
  if (client !== undefined) {
    const { clientId, tenantId, secret } = client
    return clientCall(tenantId, { client_id: clientId, client_secret: secret, scope }, env)
  }
  if (identity !== undefined) return identityCall(scope, identity, env)
  const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: id } = env
  if (tenant && id && env.AZURE_CLIENT_SECRET) {
    return clientCall(tenant, { client_id: id, client_secret: env.AZURE_CLIENT_SECRET, scope }, env)
  }
  if (tenant && id && env.AZURE_FEDERATED_TOKEN_FILE) {
    const assertion = await readFederatedToken(env.AZURE_FEDERATED_TOKEN_FILE)
    const form = { client_id: id, client_assertion_type: FEDERATED, client_assertion: assertion, scope }
    return clientCall(tenant, form, env)
  }
  return identityCall(scope, id ? { parameter: 'client_id', value: id } : undefined, env)
}

function clientCall(tenant: string, form: Readonly<Record<string, string>>, env: Environment): TokenCall {
  const base = (env.AZURE_AUTHORITY_HOST || AUTHORITY).replace(/\/+$/, '')
  const url = endpointUrl('AZURE_AUTHORITY_HOST', `${base}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`)
  const isLocal = url.hostname === '127.0.0.1' || url.hostname === 'localhost'
  if (url.protocol !== 'https:' && !isLocal) throw new CredentialError('AZURE_AUTHORITY_HOST must begin with https://')
  return { url, form: { grant_type: 'client_credentials', ...form } }
}

/** App Service and similar platforms have an endpoint of their own; machines and pods use the metadata server. */
function identityCall(scope: string, identity: Request['identity'], env: Environment): TokenCall {
  const resource = scope.replace(/\/\.default$/, '')
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: key } = env
  if (endpoint && key) {
    if (!isFieldValue(key)) throw new CredentialError('IDENTITY_HEADER is not a header value')
    const url = endpointUrl('IDENTITY_ENDPOINT', endpoint)
    url.searchParams.set('api-version', '2019-08-01')
    url.searchParams.set('resource', resource)
    if (identity !== undefined) {
      url.searchParams.set(identity.parameter === 'msi_res_id' ? 'mi_res_id' : identity.parameter, identity.value)
    }
    return { url, headers: { Metadata: 'true', 'X-IDENTITY-HEADER': key } }
  }
  const server = env.AZURE_POD_IDENTITY_AUTHORITY_HOST || METADATA_SERVER
  const url = endpointUrl('AZURE_POD_IDENTITY_AUTHORITY_HOST', '/metadata/identity/oauth2/token', server)
  url.searchParams.set('api-version', '2018-02-01')
  url.searchParams.set('resource', resource)
  if (identity !== undefined) url.searchParams.set(identity.parameter, identity.value)
  return { url, headers: { Metadata: 'true' } }
}

/** @param name the variable that the URL is from */
function endpointUrl(name: string, text: string, base?: string): URL {
  const url = URL.parse(text, base)
  if (url === null || url.username !== '' || url.password !== '') {
    throw new CredentialError(`${name} is not a URL without user and password`)
  }
  return url
}

async function readFederatedToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new CredentialError(`AZURE_FEDERATED_TOKEN_FILE cannot be read: ${causeOf(error)}`)
  }
}

/** Lifetimes are relative, so that a wrong clock here does not matter. The metadata server writes numbers as text. */
function readToken(text: string, origin: string): Credential {
  const answer = parseObject(text)
  const token = answer?.access_token
  if (typeof token !== 'string') throw new CredentialError(`${origin} answered without a token`)
  const seconds = Number(answer?.expires_in ?? Number.NaN)
  const expiresMs = Number.isFinite(seconds) ? Date.now() + seconds * 1000 : Number(answer?.expires_on) * 1000
  return { secret: { token }, expiresMs }
}
