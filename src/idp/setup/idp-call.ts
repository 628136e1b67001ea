import { parseJson } from '#base/parse-json.ts'
import { oneLine } from './one-line.ts'

/** One call of an endpoint of an identity provider (document 1, 4.4). */
export interface IdpCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Path and query, from the root of the provider. */
  readonly path: string
  /** Without `Bearer`. */
  readonly token?: string
  readonly form?: Readonly<Record<string, string>>
  readonly json?: unknown
}

export interface IdpAnswer {
  readonly status: number
  /** Where a redirect leads. */
  readonly location?: string
  /** Undefined if the body is not JSON. */
  readonly json: unknown
}

/** @throws CallFailed if there is no answer */
export type SendCall = (call: IdpCall) => Promise<IdpAnswer>

/** The provider did not answer. The message names the cause. */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
}

const TIMEOUT_MS = 10_000
/** Answers of providers are small; a list of users is the largest. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024

/** Sends calls over HTTP. Redirects are answers: to follow them would carry credentials to another server. */
export function callsTo(url: URL): SendCall {
  return async ({ method, path, token, form, json }) => {
    const body =
      form === undefined ? (json === undefined ? undefined : JSON.stringify(json)) : new URLSearchParams(form)
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
    }
    try {
      const response = await fetch(new URL(path, url), {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
        redirect: 'manual',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      const location = response.headers.get('location')
      const redirect = response.status >= 300 && response.status < 400 && location !== null ? { location } : {}
      return { status: response.status, ...redirect, json: jsonIn(await textOf(response)) }
    } catch (error) {
      throw new CallFailed(causeOf(error))
    }
  }
}

async function textOf({ body }: Response): Promise<string> {
  if (body === null) return ''
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of body) {
    bytes += piece.length
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** `fetch failed` alone helps nobody. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1000} seconds`
  const cause = error.cause instanceof Error ? error.cause : error
  // One failure for each address of a host.
  const [first = cause] = cause instanceof AggregateError ? (cause.errors as readonly Error[]) : []
  const { code } = first as NodeJS.ErrnoException
  return code?.startsWith('ERR_SSL_')
    ? `no TLS connection (${code}): the server may expect http`
    : oneLine(first.message)
}
