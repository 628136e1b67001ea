import { clock } from '#base/clock.ts'
import { parseJson } from '#base/parse-json.ts'
import type { AccountKey } from './account-key.ts'
import { AcmeFailure } from './acme-failure.ts'

/** An answer of the server that is no error. */
export interface AcmeAnswer {
  readonly text: string
  /** Empty unless the answer is a JSON object. */
  readonly json: Readonly<Record<string, unknown>>
  readonly location: string | undefined
  /** Undefined: the server does not say. */
  readonly retryAfterMs: number | undefined
}

const TIMEOUT_MS = 30_000
const MAX_BYTES = 256 * 1024
/** Of a text of the server in a message. */
const MAX_WORDS = 500
/** A server may refuse a nonce for any reason, and sends another one (RFC 8555, 6.5). */
const MAX_NONCES = 5
const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce'

/** Requests to an ACME server, signed with the key of an account (RFC 8555, 6 and 7.1 to 7.3). */
export class AcmeServer {
  readonly #directory: string
  readonly #key: AccountKey
  readonly #signal: AbortSignal
  #urls: Readonly<Record<string, unknown>> = {}
  /** URL of the account. */
  #account: string | undefined
  #nonce: string | undefined

  private constructor(directory: string, key: AccountKey, signal: AbortSignal) {
    this.#directory = directory
    this.#key = key
    this.#signal = signal
  }

  /**
   * Reads the directory, and creates the account or finds the one of the key.
   * @param signal ends all requests
   * @throws AcmeFailure
   */
  static async open(
    { directory, contacts }: { readonly directory: string; readonly contacts: readonly string[] },
    key: AccountKey,
    signal: AbortSignal,
  ): Promise<AcmeServer> {
    const server = new AcmeServer(directory, key, signal)
    server.#urls = (await server.#request(directory, { method: 'GET' })).json
    const account = { termsOfServiceAgreed: true, ...(contacts.length > 0 && { contact: contacts }) }
    const { location } = await server.post(server.urlOf('newAccount'), account)
    if (location === undefined) throw new AcmeFailure('the server returned no account')
    server.#account = location
    return server
  }

  /** The URL of a resource in the directory. @throws AcmeFailure */
  urlOf(resource: 'newNonce' | 'newAccount' | 'newOrder'): string {
    return textOf(this.#urls, resource)
  }

  /** @param payload undefined: the request reads. @throws AcmeFailure */
  async post(url: string, payload?: unknown): Promise<AcmeAnswer> {
    for (let attempt = 1; ; attempt++) {
      this.#nonce ??= await this.#newNonce()
      const nonce = this.#nonce
      this.#nonce = undefined
      const who = this.#account === undefined ? { jwk: this.#key.jwk } : { kid: this.#account }
      try {
        const body = this.#key.sign({ nonce, url, ...who }, payload)
        return await this.#request(url, { method: 'POST', headers: { 'content-type': 'application/jose+json' }, body })
      } catch (error) {
        if (!(error instanceof BadNonce) || attempt === MAX_NONCES) throw error
      }
    }
  }

  async #newNonce(): Promise<string> {
    await this.#request(this.urlOf('newNonce'), { method: 'HEAD' })
    if (this.#nonce === undefined) throw new AcmeFailure('the server returned no nonce')
    return this.#nonce
  }

  async #request(url: string, init: Sent): Promise<AcmeAnswer> {
    if (new URL(url).origin !== new URL(this.#directory).origin && !url.startsWith('https:')) {
      throw new AcmeFailure(`the server uses the address ${shortened(url)}, which is not https`)
    }
    const { response, text } = await this.#fetch(url, init)
    this.#nonce = response.headers.get('replay-nonce') ?? this.#nonce
    const retryAfterMs = readRetryAfter(response.headers.get('retry-after'))
    const json = readObject(text)
    if (response.ok) return { text, json, location: response.headers.get('location') ?? undefined, retryAfterMs }
    const message = `${response.status}: ${describeProblem(json) || shortened(text) || response.statusText}`
    throw json.type === BAD_NONCE ? new BadNonce(message) : new AcmeFailure(message, retryAfterMs)
  }

  async #fetch(url: string, init: Sent): Promise<{ readonly response: Response; readonly text: string }> {
    const late = new AbortController()
    const limit = clock.after(TIMEOUT_MS, () => late.abort())
    try {
      const signal = AbortSignal.any([late.signal, this.#signal])
      const headers = { ...init.headers, 'user-agent': 'gatewright' }
      const response = await fetch(url, { ...init, headers, redirect: 'manual', signal })
      return { response, text: await readBounded(response) }
    } catch (error) {
      if (error instanceof AcmeFailure) throw error
      const { message, cause } = error as Error
      const why = cause instanceof Error ? cause.message : message
      throw new AcmeFailure(late.signal.aborted ? `no answer from ${url} within 30 s` : `${url}: ${why}`)
    } finally {
      limit.cancel()
    }
  }
}

interface Sent {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

class BadNonce extends AcmeFailure {}

/** A text that an answer must have. @throws AcmeFailure */
export function textOf(json: Readonly<Record<string, unknown>>, member: string): string {
  const value = json[member]
  if (typeof value !== 'string') throw new AcmeFailure(`the answer of the server has no ${member}`)
  return value
}

/** The words of a problem document (RFC 7807; RFC 8555, 6.7), with those of its parts. */
export function describeProblem(problem: unknown): string {
  if (typeof problem !== 'object' || problem === null) return ''
  const { detail, type, subproblems } = problem as Readonly<Record<string, unknown>>
  const own = [type, detail].filter((part) => typeof part === 'string').join(': ')
  const parts = Array.isArray(subproblems) ? subproblems.map(describeProblem) : []
  return shortened([own, ...parts].filter((part) => part !== '').join('; '))
}

function shortened(text: string): string {
  return text
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, MAX_WORDS)
}

function readObject(text: string): Readonly<Record<string, unknown>> {
  if (!text.startsWith('{')) return {}
  try {
    return parseJson(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

/** Seconds or a date (RFC 9110, 10.2.3). */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

async function readBounded({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body ?? []) {
    length += piece.length
    if (length > MAX_BYTES) throw new AcmeFailure('the answer of the server has more than 256 KiB')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
