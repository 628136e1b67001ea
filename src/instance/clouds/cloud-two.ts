import { readFile } from 'node:fs/promises'
import type { Credential, RequestTo } from '#policies/shared/clouds/cloud-credential.ts'
import { CredentialError } from './credential-error.ts'

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
const MAX_BYTES = 65_536
const FEDERATED = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

export async function obtainToken(
  request: Request,
  signal: AbortSignal,
  env: Environment = process.env,
): Promise<Credential> {
  const { url, headers = {}, form } = await tokenCall(request, env)
  const sent = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
  let response: Response
  try {
    response = await fetch(url, { ...sent, headers, redirect: 'error', signal })
  } catch (error) {
    throw new CredentialError(`${url.origin} did not answer: ${causeOf(error)}`)
  }
  const text = await readText(response)
  if (response.status !== 200) throw new CredentialError(`${url.origin} answered ${response.status}${errorIn(text)}`)
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
  const url = new URL(`${base}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`)
  const isLocal = url.hostname === '127.0.0.1' || url.hostname === 'localhost'
  if (url.protocol !== 'https:' && !isLocal) throw new CredentialError('AZURE_AUTHORITY_HOST must begin with https://')
  return { url, form: { grant_type: 'client_credentials', ...form } }
}

/** App Service and similar platforms have an endpoint of their own; machines and pods use the metadata server. */
function identityCall(scope: string, identity: Request['identity'], env: Environment): TokenCall {
  const resource = scope.replace(/\/\.default$/, '')
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: key } = env
  if (endpoint && key) {
    const url = new URL(endpoint)
    url.searchParams.set('api-version', '2019-08-01')
    url.searchParams.set('resource', resource)
    if (identity !== undefined) {
      url.searchParams.set(identity.parameter === 'msi_res_id' ? 'mi_res_id' : identity.parameter, identity.value)
    }
    return { url, headers: { Metadata: 'true', 'X-IDENTITY-HEADER': key } }
  }
  const url = new URL('/metadata/identity/oauth2/token', env.AZURE_POD_IDENTITY_AUTHORITY_HOST || METADATA_SERVER)
  url.searchParams.set('api-version', '2018-02-01')
  url.searchParams.set('resource', resource)
  if (identity !== undefined) url.searchParams.set(identity.parameter, identity.value)
  return { url, headers: { Metadata: 'true' } }
}

async function readFederatedToken(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new CredentialError(`AZURE_FEDERATED_TOKEN_FILE cannot be read: ${causeOf(error)}`)
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > MAX_BYTES) throw new CredentialError('the answer of the token endpoint is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Code and number of the error (RFC 6749, 5.2), which contain no secret. The description may repeat parts of the request. */
function errorIn(text: string): string {
  const answer = parse(text)
  const code = typeof answer?.error === 'string' && /^[\w.-]{1,64}$/.test(answer.error) ? answer.error : undefined
  const numbers = Array.isArray(answer?.error_codes) ? answer.error_codes.filter(Number.isInteger) : []
  const said = [code, ...numbers.map((number) => `AADSTS${number}`)].filter((part) => part !== undefined)
  return said.length === 0 ? '' : `: ${said.join(' ')}`
}

/** Lifetimes are relative, so that a wrong clock here does not matter. The metadata server writes numbers as text. */
function readToken(text: string, origin: string): Credential {
  const answer = parse(text)
  const token = answer?.access_token
  if (typeof token !== 'string' || token === '' || /[^!-~]/.test(token)) {
    throw new CredentialError(`${origin} answered without a token`)
  }
  const seconds = Number(answer?.expires_in ?? Number.NaN)
  const expiresMs = Number.isFinite(seconds) ? Date.now() + seconds * 1000 : Number(answer?.expires_on) * 1000
  if (!Number.isFinite(expiresMs)) throw new CredentialError(`${origin} does not say when the token expires`)
  return { secret: { token }, expiresMs }
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message
  return String(cause)
}
