import { BackOff } from '#base/back-off.ts'
import { clock } from '#base/clock.ts'
import type { Finding } from '#base/finding.ts'
import type { Level } from '#base/log-levels.ts'
import { GrpcStream } from '#net/grpc/grpc-stream.ts'
import { createClientPool } from '#net/pool/client-pool.ts'
import type { LogFields } from '#observe/log/application-log.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { Binding } from '#plan/binding.ts'
import type { PlanChange } from '#plan/delta.ts'
import type { PlanItem } from '#plan/item.ts'
import type { PlanReports, PlanTarget, Refusal } from '#plan/plan-link.ts'
import { type ControllerAddress, ControllerUnreachable, openController } from './controller-access.ts'
import {
  DELTA_METHOD,
  type DiscoveryRequest,
  type DiscoveryResponse,
  decodeResponse,
  encodeRequest,
  MAX_MESSAGE_BYTES,
} from './discovery-messages.ts'
import { type KeptItem, type KeptPlan, responseOf } from './kept-plan.ts'
import { ENDPOINTS_TYPE, type HeldVersions, ITEM_TYPE, PLAN_TYPES, type PlanType } from './plan-resource.ts'
import { refusalsOf, writeRefusals, writeReport } from './proxy-report.ts'
import { ProxyState } from './proxy-state.ts'
import { BrokenSnapshot, ReceivedPlan } from './received-plan.ts'
import { TrustedAuthorities } from './trusted-authorities.ts'

/** Waits before new attempts to connect. */
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 15_000

/** Reports wait so long for further news. */
const REPORT_MS = 50

/** A proxy that has no plan after this time serves the one that was kept. */
const KEPT_AFTER_MS = 5000

const INVALID_ARGUMENT = 3

export interface PlanClientOptions extends ControllerAddress {
  /** The proxy, for the controller's reports: the name of its pod. */
  readonly identity: string
  /** Of the program. */
  readonly version: string
  /** Gets the plan: one change for each response that completes a version. */
  readonly target: PlanTarget
  /** Reads the plan that an earlier process kept; undefined: there is none that may be used, which was logged. */
  readonly readKept?: (() => KeptPlan | undefined) | undefined
  readonly log: (level: Level, message: string, fields: LogFields) => void
  readonly whyNotReadyChanged?: () => void
  /** A bug: `target.take` threw. */
  readonly reportBug: (error: unknown) => void
  /** From 0 to 1. */
  readonly random?: () => number
  /** Time between two looks at the file with the authorities; for tests. */
  readonly readAuthoritiesMs?: number
}

/**
 * Gets the plan of a proxy from a controller, by incremental xDS over gRPC. Without a connection, the proxy keeps what it has; the next one
 * brings only the difference. A proxy that starts while its controller is away serves the plan that it kept before.
 */
export class PlanClient implements PlanReports {
  readonly #options: PlanClientOptions
  readonly #pool = createClientPool()
  readonly #state = new ProxyState()
  readonly #backOff: BackOff
  readonly #trusted: TrustedAuthorities | undefined
  #received = nothingReceived()
  /** Changes before the first version is whole. */
  readonly #early = new Map<string, PlanItem>()
  #stream: GrpcStream | undefined
  /** Types of which no whole version has arrived on this stream. */
  #lacking = new Set<PlanType>()
  #retry: { cancel(): void } | undefined
  #report: { cancel(): void } | undefined
  /** Why there is no connection. */
  #cause: string | undefined
  #isClosed = false
  /** While the first plan has not arrived, and a kept one was not looked for. */
  #readKept: (() => KeptPlan | undefined) | undefined
  #keptTimer: { cancel(): void } | undefined
  /** When the controller last confirmed the plan, while it does not. */
  #confirmedMs: number | undefined

  constructor(options: PlanClientOptions) {
    this.#options = options
    this.#backOff = new BackOff(FIRST_RETRY_MS, LONGEST_RETRY_MS, options.random)
    this.#readKept = options.readKept
    const { caFile, readAuthoritiesMs } = options
    if (caFile !== undefined)
      this.#trusted = new TrustedAuthorities(caFile, () => this.#reportSoon(), readAuthoritiesMs)
  }

  /** Connects, and from then on keeps a connection. */
  start(): void {
    this.#trusted?.start()
    void this.#connect()
    if (this.#readKept === undefined) return
    this.#keptTimer = clock.after(KEPT_AFTER_MS, () => this.#serveKept('no whole plan has arrived'))
  }

  close(): void {
    this.#isClosed = true
    this.#trusted?.close()
    this.#retry?.cancel()
    this.#report?.cancel()
    this.#keptTimer?.cancel()
    this.#stream?.cancel('the proxy is stopping')
    this.#pool.close()
  }

  /** Why the proxy serves nothing yet: it runs no whole version of its plan. Undefined: it does, with or without a connection. */
  get whyNotReady(): string | undefined {
    if (this.#state.inForce !== undefined) return undefined
    if (this.#cause !== undefined) return `the controller at ${this.#described} gives no plan: ${this.#cause}; retrying`
    if (this.#state.hasVersion) return 'the plan of the controller is not in force yet'
    const [first] = this.#unreadable
    if (first !== undefined)
      return `the plan of the controller has ${first.key}, which cannot be read: ${first.message}`
    return `the plan of the controller at ${this.#described} has not arrived yet`
  }

  /** When the controller last confirmed that the plan is the newest one, in milliseconds since the epoch; undefined: never. */
  get confirmedMs(): number | undefined {
    return this.#isConfirmed ? clock.now() : this.#confirmedMs
  }

  /** Why the controller does not confirm the plan that is served; undefined: it does, or none is served. */
  get whyUnconfirmed(): string | undefined {
    return this.#state.hasVersion && !this.#isConfirmed ? (this.#cause ?? 'it is being asked') : undefined
  }

  /** Hashes of the items of the plan: in force in all workers, and of the last whole one that was delivered. */
  get versions(): { readonly inForce?: string; readonly delivered?: string } {
    const { inForce } = this.#state
    const delivered = this.#received[ITEM_TYPE].whole?.hash
    return { ...(inForce !== undefined && { inForce }), ...(delivered !== undefined && { delivered }) }
  }

  /** The versions of the whole plan that was delivered, by type and key; undefined: there is none, or another one is arriving. */
  get held(): Readonly<Record<PlanType, HeldVersions>> | undefined {
    const { [ITEM_TYPE]: items, [ENDPOINTS_TYPE]: endpoints } = this.#received
    if (!this.#state.hasVersion || items.settled === undefined || endpoints.settled === undefined) return undefined
    return { [ITEM_TYPE]: items.settled, [ENDPOINTS_TYPE]: endpoints.settled }
  }

  /** All workers run that version of the plan. */
  inForce(version: number): void {
    this.#state.setInForce(version)
    this.#reportSoon()
    this.#options.whyNotReadyChanged?.()
  }

  bound(_: number, bindings: ReadonlyMap<string, Binding>): void {
    this.#state.setBindings(bindings)
    this.#reportSoon()
  }

  observed(version: number, fact: BackendFact): void {
    if (this.#state.addFact(version, fact)) this.#reportSoon()
  }

  recompiled(problems: ReadonlyMap<string, readonly Finding[]>): void {
    if (problems.size === 0) return
    this.#state.setProblems(problems)
    this.#reportSoon()
  }

  get #isConfirmed(): boolean {
    return this.#stream !== undefined && this.#lacking.size === 0
  }

  get #unreadable(): readonly Refusal[] {
    return PLAN_TYPES.flatMap((type) => [...this.#received[type].unreadable])
  }

  /** The controller and the credential, without its value. */
  get #described(): string {
    const { url, tokenFile } = this.#options
    return tokenFile === undefined ? `${url}, without a token,` : `${url}, with the token of ${tokenFile},`
  }

  async #connect(): Promise<void> {
    try {
      const access = await openController(this.#options)
      if (this.#isClosed) return
      const token = access.authorization?.slice('Bearer '.length)
      const stream = new GrpcStream(this.#pool, access, DELTA_METHOD, {
        message: (bytes) => this.#message(bytes),
        over: (why) => this.#over(why, token),
      })
      this.#stream = stream
      this.#lacking = new Set(PLAN_TYPES)
      for (const type of PLAN_TYPES) this.#subscribe(type)
      if (this.#state.hasVersion) this.#sendReport()
    } catch (error) {
      if (!(error instanceof ControllerUnreachable)) this.#options.reportBug(error)
      this.#over(
        error instanceof ControllerUnreachable ? error.message : 'a bug of the proxy; its log has it',
        undefined,
      )
    }
  }

  #subscribe(typeUrl: PlanType): void {
    const { identity } = this.#options
    const received = this.#received[typeUrl]
    const request = () => encodeRequest({ node: { id: identity }, typeUrl, initialVersions: received.versions })
    let bytes = request()
    // A server would refuse it on every stream.
    if (bytes.length > MAX_MESSAGE_BYTES) {
      received.startAnew()
      bytes = request()
    }
    this.#stream?.send(bytes)
  }

  /** @param token a server might repeat it in an error */
  #over(why: string | undefined, token: string | undefined): void {
    this.#confirmedMs = this.confirmedMs
    this.#stream = undefined
    if (this.#isClosed) return
    const { log, url, tokenFile } = this.#options
    if (why !== undefined) {
      const cause = token === undefined ? why : why.replaceAll(token, '***')
      const isNews = cause !== this.#cause
      this.#cause = cause
      if (isNews) log('warn', 'no connection to the controller', { controller: url, tokenFile, cause })
      this.#options.whyNotReadyChanged?.()
      this.#serveKept(cause)
    }
    this.#retry = clock.after(this.#backOff.next(), () => void this.#connect())
  }

  /** @param why there is no plan of the controller */
  #serveKept(why: string): void {
    if (this.#state.hasVersion) return
    const kept = this.#readKept?.()
    this.#readKept = undefined
    if (kept === undefined) return
    const { log, url } = this.#options
    const confirmed = new Date(kept.confirmedMs).toISOString()
    this.#received = nothingReceived()
    this.#early.clear()
    const [fault] = PLAN_TYPES.flatMap((type) => this.#restore(type, kept.held[type]))
    if (fault === undefined) {
      this.#confirmedMs = kept.confirmedMs
      log('warn', 'serving the plan that was kept before the restart', { controller: url, confirmed, cause: why })
    } else {
      this.#received = nothingReceived()
      this.#early.clear()
      log('warn', 'the kept plan cannot be used', { item: fault.key, cause: fault.message })
    }
    // The next stream asks for the difference.
    this.#stream?.cancel(why)
  }

  /** @returns what cannot be read */
  #restore(type: PlanType, items: readonly KeptItem[]): readonly Refusal[] {
    const { change, refusals } = this.#received[type].take(responseOf(type, items))
    if (change !== undefined) this.#apply(change)
    return change === undefined ? refusals : []
  }

  #message(bytes: Uint8Array): void {
    const decoded = decodeResponse(bytes)
    if ('fault' in decoded) return this.#stream?.cancel(decoded.fault)
    const { message: response } = decoded
    const type = PLAN_TYPES.find((known) => known === response.typeUrl)
    if (type === undefined) return this.#stream?.cancel('it sent a type that was not asked for')
    this.#connected()
    this.#take(type, response)
  }

  #connected(): void {
    if (this.#cause !== undefined)
      this.#options.log('info', 'connected to the controller', { controller: this.#options.url })
    this.#cause = undefined
  }

  #take(type: PlanType, response: DiscoveryResponse): void {
    const plan = this.#received[type]
    try {
      const { change, refusals } = plan.take(response)
      if (change !== undefined) this.#applied(type)
      if (refusals.length > 0) this.#reportSoon()
      const applied = change === undefined ? [] : this.#apply(change)
      this.#answer(response, [...refusals, ...applied])
    } catch (error) {
      if (!(error instanceof BrokenSnapshot)) throw error
      plan.startAnew()
      this.#answer(response, [{ key: '', message: error.message }])
      this.#stream?.cancel(`what it sent is not whole: ${error.message}`)
    }
  }

  /** A server whose plan does not arrive completely is asked less and less often, because each attempt costs it a whole plan. */
  #applied(type: PlanType): void {
    this.#lacking.delete(type)
    if (this.#lacking.size === 0) this.#backOff.reset()
  }

  /** Hands a change to the data plane, the first time when both types are whole. @returns what it refuses */
  #apply({ set, removed }: PlanChange): readonly Refusal[] {
    const { [ITEM_TYPE]: items, [ENDPOINTS_TYPE]: endpoints } = this.#received
    if (this.#state.hasVersion) return set.length + removed.length === 0 ? [] : this.#deliver({ set, removed })
    for (const key of removed) this.#early.delete(key)
    for (const item of set) this.#early.set(item.key, item)
    if (items.whole === undefined || endpoints.whole === undefined) return []
    const first = [...this.#early.values()]
    this.#early.clear()
    return this.#deliver({ set: first, removed: [] })
  }

  #deliver(change: PlanChange): readonly Refusal[] {
    const version = this.#state.next(this.#received[ITEM_TYPE].whole!.hash)
    try {
      const problems = this.#options.target.take({ version, ...change })
      this.#state.setProblems(problems)
      this.#reportSoon()
      return refusalsOf(problems)
    } catch (error) {
      // The text of the error may hold secrets. The log hides them.
      this.#options.reportBug(error)
      return [{ key: '', message: 'a bug of the proxy stopped this change; its log has it' }]
    }
  }

  #answer({ typeUrl, nonce }: DiscoveryResponse, refusals: readonly Refusal[]): void {
    const errorDetail = refusals.length === 0 ? undefined : { code: INVALID_ARGUMENT, message: writeRefusals(refusals) }
    this.#send({ typeUrl, responseNonce: nonce, errorDetail })
  }

  #reportSoon(): void {
    this.#report ??= clock.after(REPORT_MS, () => {
      this.#report = undefined
      this.#sendReport()
    })
  }

  #sendReport(): void {
    const unreadable = [...this.#unreadable, ...PLAN_TYPES.flatMap((type) => [...this.#received[type].limited])]
    const report = { version: this.#options.version, trusts: this.#trusted?.digest, unreadable }
    const metadata = writeReport(this.#state.report(report))
    this.#send({ node: { id: this.#options.identity, metadata }, typeUrl: ITEM_TYPE })
  }

  #send(request: DiscoveryRequest): void {
    this.#stream?.send(encodeRequest(request))
  }
}

function nothingReceived(): Readonly<Record<PlanType, ReceivedPlan>> {
  return { [ITEM_TYPE]: new ReceivedPlan(ITEM_TYPE), [ENDPOINTS_TYPE]: new ReceivedPlan(ENDPOINTS_TYPE) }
}
