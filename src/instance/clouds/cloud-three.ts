import {
  type AuthClient,
  GoogleAuth,
  type IdTokenProvider,
  JWT,
  type OAuth2ClientOptions,
  UserRefreshClient,
} from 'google-auth-library'
import { parseJson } from '#base/parse-json.ts'
import type { Credential, RequestTo } from '#policies/shared/clouds/cloud-credential.ts'
import { CredentialError, causeOf } from './credential-error.ts'
import { askEndpoint } from './token-answer.ts'

const IAM_CREDENTIALS = 'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts'
/** Tokens need none; without one, the library would look for it before it asks for a token, for instance with gcloud. */
const NO_PROJECT = '-'
const SCOPES = ['https://www.googleapis.com/auth/cloud-platform']

/** Members of `credentials.json`, by its `type`. */
interface CredentialFile {
  readonly type?: string
  readonly client_email?: string
  readonly private_key?: string
  readonly private_key_id?: string
  readonly client_id?: string
  readonly client_secret?: string
  readonly refresh_token?: string
  readonly service_account_impersonation_url?: string
  readonly delegates?: string[]
  readonly source_credentials?: CredentialFile
}

type Transport = NonNullable<OAuth2ClientOptions['transporterOptions']>

/** Texts of the library without values of others. */
const TEXTS =
  /^(?:Could not load the default credentials|The file at .* does not exist|Unable to read the credential file specified by the GOOGLE_APPLICATION_CREDENTIALS environment variable)/

/**
 * An access token for all APIs of the cloud, or an ID token for one audience. Without credentials, those of the environment are used
 * (`GOOGLE_APPLICATION_CREDENTIALS`, the file of `gcloud`, the metadata server).
 * @param send replaces `fetch` in tests
 */
export async function obtainToken(
  request: RequestTo<'cloudThree'>,
  signal: AbortSignal,
  send: typeof fetch = fetch,
): Promise<Credential> {
  const endpoints = new Endpoints(send)
  const signals = AbortSignal.any([signal, endpoints.failed])
  try {
    return await tokenFrom(request, { fetchImplementation: endpoints.fetch, signal: signals })
  } catch (error) {
    throw endpoints.explain(error)
  }
}

/** The servers that the library asks. Its own errors repeat answers, which may repeat the request, and it repeats requests. */
class Endpoints {
  readonly #send: typeof fetch
  readonly #failed = new AbortController()
  #failure: CredentialError | undefined
  /** The last one that answered. */
  #answered: string | undefined

  constructor(send: typeof fetch) {
    this.#send = send
  }

  /** Aborted by the first failure, so that the library does not try again: that is up to `Keeper`. */
  get failed(): AbortSignal {
    return this.#failed.signal
  }

  /** `fetch` for the library. */
  readonly fetch: typeof fetch = async (to, init = {}) => {
    const url = new URL(to instanceof Request ? to.url : to)
    try {
      const { headers, text } = await askEndpoint(url, init, this.#send)
      this.#answered = url.origin
      return new Response(text, { headers })
    } catch (error) {
      if (error instanceof CredentialError) this.#failure = error
      this.#failed.abort()
      throw error
    }
  }

  explain(error: unknown): CredentialError {
    if (error instanceof CredentialError) return error
    if (this.#failure !== undefined) return this.#failure
    if (this.#answered !== undefined) return new CredentialError(`${this.#answered} answered without a token`)
    return new CredentialError(causeOf(error, TEXTS))
  }
}

async function tokenFrom(
  { audience, credentials }: RequestTo<'cloudThree'>,
  transporterOptions: Transport,
): Promise<Credential> {
  const file = credentials === undefined ? undefined : (parseJson(credentials) as CredentialFile)
  if (file?.type === 'impersonated_service_account') return impersonate(file, audience, transporterOptions)
  const client =
    file === undefined
      ? await new GoogleAuth({
          projectId: NO_PROJECT,
          scopes: SCOPES,
          clientOptions: { transporterOptions },
        }).getClient()
      : clientFor(file, audience, transporterOptions)
  return audience === undefined ? accessToken(client) : idToken(client, audience)
}

/**
 * Clients for the types of credentials that name only endpoints of the vendor. Other types make the gateway read files and call servers that the
 * author of the Secret chooses; the policy refuses them.
 */
function clientFor(file: CredentialFile, audience: string | undefined, transporterOptions: Transport): AuthClient {
  if (file.type === 'service_account') {
    const { client_email: email, private_key: key, private_key_id: keyId } = file
    // An ID token is for its audience only.
    const scopes = audience === undefined ? SCOPES : undefined
    return new JWT({ email, key, keyId, scopes, transporterOptions } as object)
  }
  if (file.type !== 'authorized_user') throw new CredentialError('credentials.json has an unknown form')
  const { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken } = file
  return new UserRefreshClient({ clientId, clientSecret, refreshToken, transporterOptions } as object)
}

/** The answers of the service that issues tokens of other accounts. */
interface Impersonated {
  readonly accessToken?: string
  readonly expireTime?: string
  readonly token?: string
}

/** A token of another account (IAM Credentials API). Of its URL in the file, only the name of the account counts. */
async function impersonate(
  file: CredentialFile,
  audience: string | undefined,
  transport: Transport,
): Promise<Credential> {
  const { service_account_impersonation_url: url = '', source_credentials: source = {}, delegates = [] } = file
  const account = /([^/:?#]+):generateAccessToken$/.exec(url)?.[1]
  if (account === undefined) throw new CredentialError('credentials.json does not name the account to impersonate')
  const [method, data] =
    audience === undefined
      ? ['generateAccessToken', { delegates, scope: SCOPES, lifetime: '3600s' }]
      : ['generateIdToken', { delegates, audience, includeEmail: true }]
  const { data: answer } = await clientFor(source, undefined, transport).request<Impersonated>({
    url: `${IAM_CREDENTIALS}/${account}:${method}`,
    method: 'POST',
    data,
  })
  if (audience !== undefined) return { secret: { token: answer.token ?? '' }, expiresMs: expiryOf(answer.token ?? '') }
  return { secret: { token: answer.accessToken ?? '' }, expiresMs: Date.parse(answer.expireTime ?? '') }
}

async function accessToken(client: AuthClient): Promise<Credential> {
  const { token } = await client.getAccessToken()
  if (!token) throw new CredentialError('the token endpoint answered without a token')
  return { secret: { token }, expiresMs: client.credentials.expiry_date ?? Number.NaN }
}

async function idToken(client: AuthClient, audience: string): Promise<Credential> {
  if (!('fetchIdToken' in client)) throw new CredentialError('these credentials cannot get ID tokens')
  const token = await (client as AuthClient & IdTokenProvider).fetchIdToken(audience)
  return { secret: { token }, expiresMs: expiryOf(token) }
}

/** The claim `exp`; the token is not verified here, because its audience does that. */
function expiryOf(token: string): number {
  try {
    const { exp } = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown }
    if (typeof exp === 'number') return exp * 1000
  } catch {
    // Not a token.
  }
  throw new CredentialError('the token endpoint answered without an ID token')
}
