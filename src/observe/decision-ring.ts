import { hideCredentialParameters, redactTarget } from '#base/credential-names.ts'
import type { A2aFacts } from '#exchange/a2a-facts.ts'
import type { DecidedBy } from '#exchange/decided-by.ts'
import type { Attempt, Callout, GuardCheck } from '#exchange/exchange.ts'
import type { LlmInterface, LlmTranslation } from '#exchange/llm-facts.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import type { KeptDecision, KeptMcp, McpRecord } from './decision.ts'
import { DecisionColumns } from './decision-columns.ts'
import type { DecisionIds } from './decision-ids.ts'
import { type BodyRecord, bodyRecord } from './kept-body.ts'
import { shortSession } from './mcp-session-report.ts'
import { type PolicyRecord, policyRecords } from './passage.ts'

/** The decision about one request; never contains credentials, and bodies and prompts only if the gateway is told to record them. */
export interface DecisionRecord {
  /** The id that a refusal shows to its client (`DecisionIds`). */
  id: string
  /** Name of the worker that decided. */
  worker: string
  /** Time of its end, milliseconds since the epoch. */
  time: number
  method: string
  authority: string
  target: string
  gateway: string
  listener: string
  route: string
  rule: string
  backend: string
  endpoint: string
  /** Name of the LLM provider in its backend. */
  section: string
  /** Address of the client, `<address>:<port>`. */
  client: string
  /** Of a traced request: the trace; else empty. */
  traceId: string
  /** The client that a policy has identified: subject of its token, entry of its API key (`<namespace>/<Secret>/<entry>`), or user name; else empty. */
  consumer: string
  status: number
  /** Code of the refusal; empty without a refusal. */
  code: string
  detail: string
  reason: string
  /** The policies that refused or answered the request; undefined: none did. */
  decidedBy: DecidedBy | undefined
  /** The policies that ran, in order; those of the backend for the last attempt. */
  policies: readonly PolicyRecord[]
  durationMs: number
  /** When the first attempt was sent, and when the last one got a response or failed, after the request was received; undefined: not at all. */
  sentMs: number | undefined
  answeredMs: number | undefined
  attempts: readonly Attempt[]
  /** Servers that policies asked, with their verdicts. */
  callouts: readonly Callout[]
  /** Of an LLM request: the vendor, and the models in the request to it and in its response. */
  provider: string
  requestModel: string
  responseModel: string
  /** Checks of prompt guards. */
  guardChecks: readonly GuardCheck[]
  inputTokens: number
  outputTokens: number
  /** The request was translated between dialects of LLM providers. */
  translation: LlmTranslation | undefined
  /** Fields that `ai.transformations` removed from the body, because their expressions failed. */
  removedFields: readonly string[]
  /** The interface that the path belongs to, if the LLM backend handled it as a chat completion only because its `routes` is unset. */
  misread: LlmInterface | undefined
  /** How the response of an LLM provider failed after its head. */
  errorType: string | undefined
  /** Of an MCP message; the calls of its targets are `attempts`. */
  mcp: McpRecord | undefined
  /** Of a request to an A2A agent. */
  a2a: A2aFacts | undefined
  /** Bodies, if the gateway is told to record them. */
  requestBody: BodyRecord | undefined
  responseBody: BodyRecord | undefined
}

/** Decision records of the workers that responded in time. */
export interface GatheredRecords {
  /** Newest first. */
  readonly records: readonly DecisionRecord[]
  /** Names of the workers that did not respond. */
  readonly unanswered: readonly string[]
}

/** The decisions of a worker after a certain one. */
export interface NewRecords {
  readonly worker: string
  /** Number of decisions up to the last of the records; there may be more. */
  readonly count: number
  /** Oldest first. */
  readonly records: readonly DecisionRecord[]
  /** Decisions after it that the ring has forgotten. */
  readonly lost: number
}

/** Building more records would delay requests. */
const MOST_LISTED = 1024

/** The last decisions of one worker. */
export class DecisionRing {
  readonly #decisions: DecisionColumns
  readonly #worker: string
  readonly #ids: DecisionIds
  readonly #capacity: number
  /** One number: that of all decisions so far. In shared memory it is still known after the worker has died. */
  readonly #counter: Float64Array
  #count = 0

  constructor(worker: string, ids: DecisionIds, capacity: number, counter: Float64Array = new Float64Array(1)) {
    this.#worker = worker
    this.#ids = ids
    this.#capacity = capacity
    this.#counter = counter
    this.#decisions = new DecisionColumns(capacity)
  }

  /** Records a decision in place of the oldest one if the ring is full. */
  keep(decision: KeptDecision): void {
    this.#decisions.write(this.#count % this.#capacity, decision)
    this.#count++
    this.#counter[0] = this.#count
  }

  /**
   * The first of the decisions that are wanted.
   * @param after number of decisions up to the ones that are wanted; infinite: none of those so far
   * @param most number of records: building them delays requests
   */
  listAfter(after: number, most: number): NewRecords {
    const wanted = Math.min(after, this.#count)
    const from = Math.max(wanted, this.#count - this.#capacity)
    const until = Math.min(this.#count, from + most)
    const records: DecisionRecord[] = []
    for (let at = from; at < until; at++) {
      records.push(this.#recordOf(this.#decisions.read(at % this.#capacity)))
    }
    return { worker: this.#worker, count: until, records, lost: from - wanted }
  }

  /** The newest, newest first. */
  list(): DecisionRecord[] {
    const slots = [...Array(Math.min(this.#count, this.#capacity)).keys()]
    const newest = slots.toSorted((a, b) => this.#decisions.numberAt(b) - this.#decisions.numberAt(a))
    return newest.slice(0, MOST_LISTED).map((slot) => this.#recordOf(this.#decisions.read(slot)))
  }

  #recordOf(kept: KeptDecision): DecisionRecord {
    const { number, timeMs, names, target, redactedParameters, clientAddress, clientPort, ...others } = kept
    const { passed, startMonotonicMs, rare, ...decision } = others
    const { mcp, requestBody, responseBody } = rare
    const { gateway, listener, route, rule, backend } = names
    return {
      id: this.#ids.idOf(number),
      worker: this.#worker,
      time: timeMs,
      gateway,
      listener,
      route,
      rule,
      backend,
      target: redactTarget(target, redactedParameters),
      client: `${clientAddress}:${clientPort}`,
      ...decision,
      ...rare,
      policies: policyRecords(passed, startMonotonicMs),
      mcp: mcp && describeMcp(mcp),
      requestBody: requestBody && bodyRecord(requestBody),
      responseBody: responseBody && bodyRecord(responseBody),
    }
  }
}

function describeMcp({ sessionId, sessionDigest, item, ...facts }: KeptMcp): McpRecord {
  const session = digestOfSession({ sessionId, sessionDigest })
  return { ...facts, item: item === undefined ? undefined : hideCredentialParameters(item), session }
}

/** Of the session of a message, as log and records show it. */
export function digestOfSession({ sessionId, sessionDigest }: Pick<McpFacts, 'sessionId' | 'sessionDigest'>) {
  return sessionDigest ?? (sessionId && shortSession(sessionId))
}
