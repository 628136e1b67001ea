import { KeptValue, KeptValues, type RequestKept } from '../kept/kept-value.ts'

/** Keys of an account of `cloudOne`, long-lived or temporary. Byte text. */
export interface AccessKeys {
  readonly accessKey: string
  readonly secretKey: string
  /** Only temporary keys have one. */
  readonly sessionToken: string | undefined
}

/** What a cloud gives for requests to it. */
export interface Credential {
  /** A bearer token, or keys for signatures. */
  readonly secret: { readonly token: string } | { readonly keys: AccessKeys }
  /** Milliseconds since the epoch; undefined: it does not expire. */
  readonly expiresMs: number | undefined
}

/** What of a credential no output may show. Byte text. */
export function secretsOfCredential({ secret }: Credential): readonly string[] {
  return 'token' in secret ? [secret.token] : [secret.keys.secretKey, secret.keys.sessionToken ?? []].flat()
}

/** How a credential is obtained. Without a Secret, from the environment of the gateway. */
export type CredentialRequest =
  | {
      readonly cloud: 'cloudOne'
      /** A service for which the environment may have an API key instead of keys. */
      readonly service?: 'bedrock'
    }
  | {
      readonly cloud: 'cloudTwo'
      readonly scope: string
      readonly client?: { readonly clientId: string; readonly tenantId: string; readonly secret: string }
      readonly identity?: { readonly parameter: 'client_id' | 'object_id' | 'msi_res_id'; readonly value: string }
    }
  | {
      readonly cloud: 'cloudThree'
      /** The audience of an ID token; undefined: an access token. */
      readonly audience: string | undefined
      /** The text of `credentials.json`. */
      readonly credentials?: string
    }

export type RequestTo<Cloud> = Extract<CredentialRequest, { readonly cloud: Cloud }>

/** The source of a credential, and where the user finds it. */
export interface CredentialSource {
  /** Contains a digest of the request, so that other settings are another source. */
  readonly id: string
  /** `access token of Google Cloud from Secret default/google`; without secrets. */
  readonly label: string
  readonly request: CredentialRequest
}

/** One thread's copy of a credential that the main thread keeps current (decision A-104). */
export class CloudCredential extends KeptValue<Credential> {
  readonly label: string

  /** @param ask as for `KeptValue` */
  constructor({ id, label }: CredentialSource, ask: RequestKept | undefined) {
    super(id, ask)
    this.label = label
  }

  /** Undefined: there is none, or it has expired. */
  current(nowMs: number): Credential | undefined {
    const value = this.state?.value
    return value === undefined || (value.expiresMs ?? Number.POSITIVE_INFINITY) <= nowMs ? undefined : value
  }
}

/** The credentials of a thread, by the id of their source. */
export class CloudCredentials extends KeptValues<CredentialSource, Credential, CloudCredential> {
  /** @param ask as for `KeptValue` */
  constructor(ask?: RequestKept) {
    super(
      ({ id }) => id,
      (source) => new CloudCredential(source, ask),
    )
  }
}
