import { Allowance } from '#base/allowance.ts'
import { clock } from '#base/clock.ts'
import { REJECTIONS } from '#base/rejections.ts'
import type { EndedCall } from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { noteOutcome } from '#exchange/follow-up.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import type { ClientSpan } from '#exchange/request-span.ts'
import type { ConnectionRefusal } from '#net/accept/connection-refusal.ts'
import type { ConnectTransport } from '#net/connect/pool-settings.ts'
import type { Peer } from '#net/peer.ts'
import type { ConnectionFault, WireRefusal } from '#net/stream.ts'
import type { DecisionIds } from './decision-ids.ts'
import { DecisionRing } from './decision-ring.ts'
import { Ended } from './ended.ts'
import { type Cause, KeptRequest, keptUnread } from './kept-decision.ts'
import type { AccessLog } from './log/access-log.ts'
import { observeCall } from './metrics/call-metrics.ts'
import { countConnection, observeHandshake } from './metrics/connection-metrics.ts'
import type { MetricsWriter } from './metrics/metrics-writer.ts'
import { RelayMetrics } from './metrics/relay-metrics.ts'
import { RequestMetrics } from './metrics/request-metrics.ts'
import { observeConnect } from './metrics/upstream-metrics.ts'
import type { IncomingConnection, Observed, ObservedRelay, Observer, UnreadRequest } from './observer.ts'
import type { Tracer } from './otlp/tracer.ts'
import { WallClock } from './wall-clock.ts'

/** Decisions that are kept. */
const RECORDS = 1024
/** The same if all of them are to be written to files, without bodies: the main thread may be busy for a while. */
const RECORDS_TO_WRITE = 16_384

/** Limit of lines and records for messages that the HTTP parser refused: a burst, and a rate per second. */
const UNREAD_BURST = 100
const UNREAD_PER_SECOND = 10

/** A head is refused before it is known which of its limits it exceeds. */
const HEAD_LIMITS =
  'frontend.http.http1MaxHeaders limits the number of fields, http2MaxHeaderSize their size over HTTP/2; over HTTP/1.1 it is 64 KiB'

export interface RecordSettings {
  /** Bytes of each body that records have. */
  readonly bodyBytes?: number
  /** All records are written to files. */
  readonly areWritten?: boolean
  /** See `DecisionRing`. */
  readonly counter?: Float64Array
}

/** Turns each completed request and relayed connection into an access log line, metrics and a decision record. */
export class RequestObserver implements Observer {
  readonly records: DecisionRing
  readonly #log: AccessLog
  readonly #metrics: RequestMetrics
  readonly #relays: RelayMetrics
  readonly #writer: MetricsWriter
  readonly #tracer: Tracer | undefined
  readonly #recordBodyBytes: number
  readonly #ids: DecisionIds
  /** For messages that never became requests: they are cheap to send. */
  readonly #unreadAllowance = new Allowance(UNREAD_BURST, UNREAD_PER_SECOND)
  readonly #wallClock = new WallClock()
  /** Number of messages without line and record since the last one that had them. */
  #untold = 0
  readonly #reportBug: (decisionId: string, error: unknown) => void

  /** @param worker name of the thread, for records */
  constructor(
    worker: string,
    ids: DecisionIds,
    log: AccessLog,
    writer: MetricsWriter,
    reportBug: (decisionId: string, error: unknown) => void,
    tracer?: Tracer,
    { bodyBytes = 0, areWritten = false, counter }: RecordSettings = {},
  ) {
    this.#recordBodyBytes = bodyBytes
    this.#tracer = tracer
    this.records = new DecisionRing(worker, ids, areWritten && bodyBytes === 0 ? RECORDS_TO_WRITE : RECORDS, counter)
    this.#ids = ids
    this.#log = log
    this.#writer = writer
    this.#metrics = new RequestMetrics(writer)
    this.#relays = new RelayMetrics(writer)
    this.#reportBug = reportBug
  }

  ended(request: Observed, sentBytes: number, broken: string | undefined): void {
    const { exchange } = request
    const work = exchange.workAfterResponse
    if (work === undefined) return this.#observe(request, sentBytes, broken)
    void work.ended.then(() => {
      noteOutcome(exchange, work.exchange)
      this.#observe(request, sentBytes, broken)
    })
  }

  #observe(request: Observed, sentBytes: number, broken: string | undefined): void {
    const { exchange } = request
    const policies = joinNotes(noteOnTargets(exchange.mcp), noteOnCallouts(exchange))
    const note = joinNotes(policies, joinNotes(noteOnStream(exchange), broken))
    const ended = this.#end(request, note)
    this.#log.log(ended)
    this.#metrics.record(ended, sentBytes)
    this.records.keep(new KeptRequest(ended, this.#recordBodyBytes))
    if (exchange.span !== undefined) this.#tracer?.requestEnded(ended, exchange.span)
  }

  relayEnded(relay: ObservedRelay, broken: string | undefined): void {
    const ended = this.#end(relay, broken)
    this.#log.log(ended)
    this.#relays.record(ended, relay)
    this.records.keep(new KeptRequest(ended, this.#recordBodyBytes))
  }

  connectionEnded(connection: IncomingConnection, receivedBytes: number, sentBytes: number): void {
    countConnection(this.#writer, connection, receivedBytes, sentBytes)
  }

  handshakeEnded(connection: IncomingConnection, durationMs: number): void {
    observeHandshake(this.#writer, connection, durationMs)
  }

  upstreamConnected(transport: ConnectTransport, durationMs: number): void {
    observeConnect(this.#writer, transport, durationMs)
  }

  refusedByWire(code: WireRefusal, unread?: UnreadRequest): string | undefined {
    this.#writer.series('wireRefusals', [code]).add(1)
    if (unread === undefined) return undefined
    const { status, text, reason } = REJECTIONS[code]
    const detail = code === 'headers-too-large' ? HEAD_LIMITS : undefined
    const error = detail === undefined ? text : `${text}: ${detail}`
    return this.#reportUnread(unread, { code, status, error, reason, detail })
  }

  connectionBroken(unread: UnreadRequest, fault: ConnectionFault, detail: string): void {
    this.#writer.series('wireRefusals', [fault]).add(1)
    this.#reportUnread(unread, { code: fault, status: 0, error: detail, reason: 'InvalidRequest', detail })
  }

  /** Writes a line and a record, within the limit. @returns the id of the record */
  #reportUnread({ connection, decisionNumber }: UnreadRequest, why: Cause): string | undefined {
    if (!this.#unreadAllowance.take()) {
      this.#untold++
      return undefined
    }
    const decisionId = this.#ids.idOf(decisionNumber)
    const { peer } = connection
    this.#log.logUnread({ place: connection, peer, decisionId, untold: this.#untold, ...why })
    this.#untold = 0
    this.records.keep(keptUnread(connection, decisionNumber, why))
    return decisionId
  }

  connectionDenied(peer: Peer, why: string): void {
    this.#log.logConnection(peer, why, 'Authorization')
    this.#writer.series('deniedConnections', []).add(1)
  }

  connectionRefused(peer: Peer, why: ConnectionRefusal): void {
    this.#log.logConnection(peer, why, 'InvalidRequest')
    this.#writer.series('refusedConnections', [why]).add(1)
  }

  attemptEnded(attempt: ClientSpan, exchange: Exchange): void {
    this.#tracer?.attemptEnded(attempt, exchange)
  }

  callEnded(call: EndedCall): void {
    if (call.span !== undefined) this.#tracer?.callEnded(call, call.span)
    if (call.of?.keep(call) !== true) observeCall(this.#writer, call)
  }

  bug(decisionId: string, error: unknown): void {
    this.#reportBug(decisionId, error)
  }

  #end(request: Observed, note: string | undefined): Ended {
    const endMs = clock.monotonic()
    return new Ended(request, this.#wallClock.at(endMs), endMs - request.exchange.startMonotonicMs, note)
  }
}

function joinNotes(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || other === undefined ? (one ?? other) : `${one}; ${other}`
}

function noteOnTargets(mcp: McpFacts | undefined): string | undefined {
  return mcp && joinNotes(noteOnFailures(mcp), noteOnStrayAnswers(mcp))
}

function noteOnFailures({ toleratedFailures }: McpFacts): string | undefined {
  return toleratedFailures && `targets failed, and others served the request: ${toleratedFailures.join(', ')}`
}

function noteOnStrayAnswers({ strayAnswers }: McpFacts): string | undefined {
  if (strayAnswers === undefined) return undefined
  const counts = [...strayAnswers].map(([target, count]) => `${count} from ${target}`).join(', ')
  return `unsolicited responses from targets were dropped: ${counts}`
}

/** A request that passed although a server gave no decision. That a refusal had this cause is in its own detail. */
function noteOnCallouts({ callouts, refusal }: Exchange): string | undefined {
  const failed = refusal === undefined ? callouts?.filter(({ verdict }) => verdict === 'failed') : undefined
  if (failed === undefined || failed.length === 0) return undefined
  return failed.map(({ policy, backend, detail }) => `${policy} had no answer of ${backend}: ${detail}`).join('; ')
}

/** A stream that broke after its response had begun is not a refusal. */
function noteOnStream({ refusal, refusalDetail }: Exchange): string | undefined {
  return refusal === undefined ? refusalDetail : undefined
}
