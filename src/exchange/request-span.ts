import type { Destination } from '#net/destination.ts'
import type { Head } from '#net/http/head.ts'
import type { SpanSettings } from './span-settings.ts'
import { SAMPLED, type TraceContext } from './trace-parent.ts'

/** The parts of a run context that a span needs. */
interface Sources {
  now(): number
  monotonic(): number
  /** 0 (inclusive) to 1 (exclusive). */
  random(): number
}

/** A request that is traced, from its listener to its end. Unsampled requests have none. */
export class RequestSpan {
  readonly settings: SpanSettings
  readonly traceId: string
  readonly spanId: string
  /** The span of the sender; undefined: this span begins the trace. */
  readonly parentId: string | undefined
  /** `tracestate` of the sender, which is passed on unchanged. */
  readonly traceState: string
  /** Of all spans of the request: the wall clock minus the monotonic clock, so that they have consistent times. */
  readonly aheadMs: number
  /** Query parameters with credentials, besides those with conventional names: addresses of its attempts and calls may have them. */
  redactedParameters: readonly string[] = []
  /** The attempt in flight. */
  attempt: ClientSpan | undefined
  /** The ids of its children begin with the same digits. Nothing here refers to the request: calls may outlive it, and must not keep it. */
  readonly #prefix: string
  #nextChild: number

  constructor(settings: SpanSettings, sources: Sources, parent: TraceContext | undefined, traceState: string) {
    this.settings = settings
    const random = () => sources.random()
    this.traceId = parent?.traceId ?? hexDigits(32, random)
    this.spanId = hexDigits(16, random)
    this.#prefix = hexDigits(8, random)
    this.#nextChild = Math.floor(random() * 2 ** 32)
    this.parentId = parent?.parentId
    this.traceState = traceState
    this.aheadMs = sources.now() - sources.monotonic()
  }

  /** The value of `traceparent` for what belongs to this span. */
  get header(): string {
    return headerOf(this.traceId, this.spanId)
  }

  /** Begins a request to a server. @param purpose undefined: an attempt to forward the request */
  begin(purpose: string | undefined): ClientSpan {
    const digits = (this.#nextChild++ % 2 ** 32).toString(16).padStart(8, '0')
    return new ClientSpan(this, this.#prefix + digits, purpose)
  }

  /**
   * Begins an attempt, before it is signed. A policy that has changed or removed the header of the request decides what is sent.
   * @param request with the header of this span
   */
  beginAttempt(request: Head, resends: number): void {
    this.attempt = this.begin(undefined)
    this.attempt.resends = resends
    if (request.joined('traceparent') === this.header) request.set('traceparent', this.attempt.header)
  }
}

/** A request of the gateway to a server, as part of a traced request. Its members are set while it goes on. */
export class ClientSpan {
  readonly of: RequestSpan
  readonly spanId: string
  /** Undefined: an attempt to forward the request. */
  readonly purpose: string | undefined
  /** Monotonic. */
  startMs = 0
  /** As it was sent. */
  request: Head | undefined
  destination: Pick<Destination, 'host' | 'port' | 'unixPath' | 'tls'> | undefined
  /** How often the request was sent before. */
  resends = 0
  /** Of the response; undefined: there was none. */
  status: number | undefined
  grpcStatus: string | undefined
  /** Why the response is missing or incomplete. */
  failure: string | undefined
  /** The MCP message that was sent. */
  mcp: SentMcp | undefined

  constructor(of: RequestSpan, spanId: string, purpose: string | undefined) {
    this.of = of
    this.spanId = spanId
    this.purpose = purpose
  }

  get header(): string {
    return headerOf(this.of.traceId, this.spanId)
  }

  /** The request is sent now. */
  sent(request: Head, destination: NonNullable<ClientSpan['destination']>, startMs: number): void {
    this.request = request
    this.destination = destination
    this.startMs = startMs
  }
}

/** A message to an MCP server. */
export interface SentMcp {
  readonly method: string
  /** Name of the tool or prompt. */
  readonly tool?: string
  readonly prompt?: string
}

function headerOf(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-0${SAMPLED}`
}

const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Random digits, not all of which are 0. @param count a multiple of eight */
export function hexDigits(count: number, random: () => number): string {
  let digits = ''
  while (digits.length < count) {
    const word = random() * 2 ** 32
    for (let shift = 24; shift >= 0; shift -= 8) digits += PAIRS[(word >>> shift) & 0xff]
  }
  return /[^0]/.test(digits) ? digits : `${digits.slice(1)}1`
}
