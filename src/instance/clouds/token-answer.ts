import { parseJson } from '#base/parse-json.ts'
import { CredentialError, causeOf } from './credential-error.ts'

const MAX_BYTES = 65_536

/** An answer of a token endpoint, completely read. */
export interface TokenAnswer {
  readonly headers: Headers
  readonly text: string
}

/**
 * Asks a token endpoint. A redirect is no answer: it would take the credential to another server.
 * @throws CredentialError for everything but status 200
 */
export async function askEndpoint(url: URL, init: RequestInit, send: typeof fetch = fetch): Promise<TokenAnswer> {
  const { origin } = url
  let response: Response
  let text: string
  try {
    response = await send(url, { ...init, redirect: 'manual' })
    text = await readText(response)
  } catch (error) {
    if (error instanceof CredentialError) throw error
    throw new CredentialError(`${origin} did not answer: ${causeOf(error)}`)
  }
  const { status, headers } = response
  if (status !== 200) throw new CredentialError(`${origin} answered ${status}${errorIn(text)}`)
  return { headers, text }
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

/**
 * Code and numbers of the error (RFC 6749, 5.2). The description is omitted, because it may repeat parts of the request; so is a code with
 * another form than the RFC's.
 */
function errorIn(text: string): string {
  const answer = parseObject(text)
  const code = typeof answer?.error === 'string' && /^[a-z_]{1,64}$/.test(answer.error) ? answer.error : undefined
  const numbers = Array.isArray(answer?.error_codes) ? answer.error_codes.filter(Number.isInteger).slice(0, 5) : []
  const said = [code, ...numbers.map((number) => `AADSTS${number}`)].filter((part) => part !== undefined)
  return said.length === 0 ? '' : `: ${said.join(' ')}`
}

/** The members of a JSON object; undefined if the text is none. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = parseJson(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
