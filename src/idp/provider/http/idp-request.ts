/** A request about one realm, or about realms. */
export interface IdpRequest {
  readonly method: string
  /** Parts of the path that have names in the route, decoded. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** Fields of a form, of the body or of the query; JSON bodies have none. */
  readonly form: URLSearchParams
  /** The value of a JSON body; undefined: there is none. */
  readonly json: unknown
  readonly authorization: string | undefined
  readonly cookies: Readonly<Record<string, string>>
  /** The address of the provider as clients see it, without a slash at its end. */
  readonly origin: string
}

export interface IdpReply {
  readonly status: number
  readonly json?: unknown
  readonly html?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

/** @throws IdpError */
export type Handler = (request: IdpRequest) => IdpReply | Promise<IdpReply>

/** The token of an `Authorization` header; the scheme has no case (RFC 9110, 11.1). */
export function bearerOf({ authorization = '' }: Pick<IdpRequest, 'authorization'>): string | undefined {
  return /^bearer +(?<token>\S+) *$/i.exec(authorization)?.groups?.token
}
