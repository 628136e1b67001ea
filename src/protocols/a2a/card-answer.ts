import { sha256 } from '#base/sha256.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { asBuffer } from '#net/body/as-buffer.ts'
import type { BodyClaim } from '#net/body/body-memory.ts'
import { ForwardingSink } from '#net/body/forwarding-sink.ts'
import { HeldBytes } from '#net/body/held-bytes.ts'
import type { ResponseDecoding } from '#net/body/response-decoding.ts'
import { addVary } from '#net/http/add-vary.ts'
import type { Head } from '#net/http/head.ts'
import type { BodySink } from '#net/stream.ts'
import type { AnswerFilter, SelectFilter } from '../backend-protocol.ts'
import { CardAddresses } from './card-addresses.ts'
import type { CardLocation } from './card-location.ts'
import { type JsonCardForm, MAX_CARD_BYTES, rewriteCard } from './rewrite-card.ts'
import { rewriteGrpcCard } from './rewrite-grpc-card.ts'

/** Fields that describe the bytes of the agent, which the client does not get. */
const FIELDS_OF_BYTES = [
  'etag',
  'last-modified',
  'accept-ranges',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
]
/** Fields of a request that ask for a part of the agent's bytes, or compare versions of them. */
const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range', 'range']

/** How a card is encoded in a response. */
export type CardForm = JsonCardForm | 'grpc'

/** The request for a card whose response is to be rewritten. */
export interface CardRequest {
  readonly form: CardForm
  readonly location: CardLocation
  /** The versions of the card that the client has: the value of `If-None-Match`. */
  readonly known: string | undefined
}

/**
 * Changes a request for a card, so that its whole response can be read.
 * @returns the condition of the client, which the gateway evaluates itself
 */
export function askForWholeCard(request: Head, form: CardForm): string | undefined {
  request.set('accept-encoding', 'identity')
  request.remove('grpc-accept-encoding')
  if (form !== 'card') return undefined
  const known = request.joined('if-none-match')
  for (const name of CONDITIONS) request.remove(name)
  return known
}

/** Errors pass unchanged. A successful response is rewritten or refused: it never reaches the client with the address of the agent. */
export function selectCardAnswer(card: CardRequest): SelectFilter {
  return (exchange, claim, { received: decode }) => {
    const head = exchange.response!
    const { status } = head
    if (card.form === 'card') addVary(head, 'X-Forwarded-Proto')
    if (status >= 300 && status < 400 && status !== 304) return rewriteLocation(head, card.location)
    if (status >= 400 || status === 204 || status === 205) return undefined
    for (const name of FIELDS_OF_BYTES) head.remove(name)
    if (exchange.request.method === 'HEAD') return UNKNOWN_LENGTH
    return new CardAnswer(card, { exchange, claim, decode })
  }
}

/** The length of the card that a GET would return is not known. */
const UNKNOWN_LENGTH: AnswerFilter = { changesLength: true, into: (sink) => sink }

/** A card at another address of the agent. */
function rewriteLocation(head: Head, location: CardLocation): undefined {
  const target = head.get('location')
  const rewritten = target === undefined ? undefined : new CardAddresses(location).toClient(target)
  if (rewritten !== undefined) head.set('location', rewritten)
}

interface AnswerSurroundings {
  readonly exchange: Exchange
  readonly claim: BodyClaim
  readonly decode: ResponseDecoding['received']
}

/** Holds a response until its end, and sends the rewritten card. */
class CardAnswer implements AnswerFilter {
  readonly changesLength = true
  readonly whole = true
  refusal: Refusal | undefined
  readonly #card: CardRequest
  readonly #around: AnswerSurroundings

  constructor(card: CardRequest, around: AnswerSurroundings) {
    this.#card = card
    this.#around = around
  }

  into(sink: BodySink): BodySink {
    return new WholeCard(sink, this.#around.claim, (body) => {
      const result = this.#rewrite(body)
      if (typeof result !== 'string') return result
      this.refusal = reject('a2a-card-invalid', { detail: result })
      return new Uint8Array(0)
    })
  }

  /** @returns why the response is refused, or the bytes for the client */
  #rewrite(body: Uint8Array | undefined): Uint8Array | string {
    const { decode, exchange } = this.#around
    const head = exchange.response!
    const { form, known } = this.#card
    // Parts of cards, and versions that the client was not asked about.
    if (head.status === 206 || head.status === 304) return `the response has status ${head.status}`
    if (body === undefined) return TOO_LARGE
    const coding = head.joined('content-encoding') ?? 'identity'
    const isPlain = coding.trim().toLowerCase() === 'identity'
    const decoded = isPlain ? body : decode(coding, body, MAX_CARD_BYTES)
    if (decoded === undefined)
      return `the response cannot be decoded from ${JSON.stringify(coding)} within ${MAX_CARD_BYTES} bytes`
    const card = rewriteForm(decoded, this.#card, exchange.request.target)
    if (card === undefined)
      return form === 'grpc' ? 'the response is not an agent card' : 'the response is not a JSON object'
    head.remove('content-encoding')
    return form === 'card' ? withTag(head, card, known) : card
  }
}

function rewriteForm(body: Uint8Array, { form, location }: CardRequest, target: string): Uint8Array | undefined {
  if (form === 'grpc') return rewriteGrpcCard(body, target, MAX_CARD_BYTES, location)
  const text = rewriteCard(body, form, location)
  return text === undefined ? undefined : new TextEncoder().encode(text)
}

const TOO_LARGE = `the response is larger than ${MAX_CARD_BYTES} bytes`

/** Sets the tag of the card that the client gets. @returns no bytes if the client has this version */
function withTag(head: Head, card: Uint8Array, known: string | undefined): Uint8Array {
  const tag = `"${hexOf(sha256(card).subarray(0, 16))}"`
  head.set('etag', tag)
  if (known === undefined || !(known.trim() === '*' || known.includes(tag))) return card
  head.status = 304
  head.remove('content-length')
  return new Uint8Array(0)
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Gives the whole body to a function at its end; undefined: it is too large. */
class WholeCard extends ForwardingSink {
  readonly #held: HeldBytes
  readonly #rewrite: (body: Uint8Array | undefined) => Uint8Array
  #isTooLarge = false

  constructor(sink: BodySink, claim: BodyClaim, rewrite: (body: Uint8Array | undefined) => Uint8Array) {
    super(sink)
    this.#held = new HeldBytes(claim, MAX_CARD_BYTES)
    this.#rewrite = rewrite
  }

  override bytes(buffer: Buffer, start: number, end: number): void {
    this.#isTooLarge ||= !this.#held.appendWithin(buffer, start, end)
  }

  override end(trailers?: Head): void {
    const body = asBuffer(this.#rewrite(this.#isTooLarge ? undefined : this.#held.bytes))
    this.#held.drop()
    if (body.length > 0) this.sink.bytes(body, 0, body.length)
    this.sink.end(trailers)
  }
}
