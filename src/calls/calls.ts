import { clock } from '#base/clock.ts'
import { chooseEndpoint } from '#engine/backend/balance.ts'
import type { LiveBackend, LiveEndpoint } from '#engine/backend/live-backend.ts'
import { RequestedPlaces } from '#engine/backend/place.ts'
import { backendName } from '#exchange/backend-name.ts'
import {
  type Call,
  CallError,
  type CallPurpose,
  type CallRequest,
  type CallResponse,
  type EndedCall,
} from '#exchange/call.ts'
import type { Exchange } from '#exchange/exchange.ts'
import type { ClientSpan } from '#exchange/request-span.ts'
import { BodyClaim, type BodyMemory } from '#net/body/body-memory.ts'
import type { FailureCode } from '#net/failure.ts'
import type { ClientPool } from '#net/stream.ts'
import { type TimerWheel, workerWheel } from '#net/timer-wheel.ts'
import { CallRoom } from './call-room.ts'
import type { CallEnd } from './call-way.ts'
import { type Caller, captureCaller, GATEWAY_ITSELF } from './caller.ts'
import { OneCall } from './one-call.ts'

/**
 * Maximum number of concurrent calls of a thread to one destination. Calls to MCP targets and to processors, which last as long as the requests that
 * cause them, are bounded by those.
 */
const AT_ONCE: Readonly<Record<CallPurpose, number>> = {
  mcp: Number.POSITIVE_INFINITY,
  'key-set': 4,
  // A server that answers within 10 ms gets 100,000 questions in a second; one that hangs does not collect all requests.
  authorization: 1024,
  processing: Number.POSITIVE_INFINITY,
  'rate-limit': 1024,
  models: 4,
  guard: 1024,
  'sign-in': 16,
  // One for each signal of each policy.
  telemetry: 64,
  // Copies may be lost; their number must not be that of all requests.
  mirror: 256,
}

/** Maximum number of nested calls: the policies of a destination may make calls, too. */
const MAX_DEPTH = 3

/** What a thread has for its calls. */
export interface CallsOptions {
  readonly pool: ClientPool
  readonly bodyMemory: BodyMemory
  /** For deadlines; by default that of the thread. */
  readonly wheel?: TimerWheel
  /** 0 (inclusive) to 1 (exclusive). */
  readonly random: () => number
  /** A backend of the plan in force with its own policies, and without policies of routes; undefined if the key is unknown. */
  readonly backend: (key: string) => LiveBackend | undefined
  /** An endpoint of a backend did not answer. */
  readonly failed: (backend: string, endpoint: string, failure: FailureCode) => void
  readonly ended: (call: EndedCall) => void
}

/** The destination of one call, and its caller. */
interface Attempt {
  readonly backend: LiveBackend
  readonly groups: LiveBackend['groups']
  readonly caller: Caller
  readonly claim: BodyClaim
  readonly depth: number
}

/**
 * Requests that the gateway makes by itself. Like forwarded requests, they go to backends of the plan, with their backend policies, to
 * the endpoint that health selects, over the connection pools of the thread.
 */
export class Calls {
  readonly #options: CallsOptions
  readonly #room = new CallRoom()
  /** Calls that no request has caused. */
  readonly ofGateway: Call = this.#callIn(GATEWAY_ITSELF, undefined, 0)

  constructor(options: CallsOptions) {
    this.#options = options
  }

  /** For steps of a request (`RunContext.call`): calls with the identity of its client. Their answers count as memory of `claim`, if any. */
  ofRequest(exchange: Exchange, claim: BodyClaim | undefined): Call {
    return this.#callIn(captureCaller(exchange), claim, 0)
  }

  /**
   * Calls to the sections of a request's backend (MCP targets, LLM providers), with the policies of its route too.
   * @param exchange undefined: they are those of the gateway itself
   * @param claim undefined: they may outlive the request
   */
  toSections(backend: LiveBackend, exchange: Exchange | undefined, claim: BodyClaim | undefined): Call {
    const captured = exchange === undefined ? GATEWAY_ITSELF : captureCaller(exchange)
    return (destination, request) => {
      const groups = [backend.sections.get(destination) ?? []]
      const memory = claim ?? new BodyClaim(this.#options.bodyMemory)
      return this.#make({ backend, groups, caller: captured, claim: memory, depth: 0 }, request)
    }
  }

  #callIn(caller: Caller, given: BodyClaim | undefined, depth: number): Call {
    return (destination, request) => {
      const backend = depth < MAX_DEPTH ? this.#options.backend(destination) : undefined
      if (backend === undefined) {
        this.#endReporter(request, destination, caller, undefined)({ failure: 'no-endpoint' })
        const detail =
          depth < MAX_DEPTH ? 'the backend does not exist' : 'policies of backends call each other in a loop'
        return Promise.reject(new CallError('no-endpoint', detail))
      }
      const claim = given ?? new BodyClaim(this.#options.bodyMemory)
      return this.#make({ backend, groups: backend.groups, caller, claim, depth }, request)
    }
  }

  #make({ backend, groups, caller, claim, depth }: Attempt, request: CallRequest): Promise<CallResponse> {
    const { pool, wheel = workerWheel, random, failed } = this.#options
    const { key } = backend.item
    const span = caller.span?.begin(request.purpose)
    if (span !== undefined) span.mcp = request.mcp
    const ended = this.#endReporter(request, key, caller, span)
    const endpoint = chooseForCall(groups, request, random)
    if (request.purpose === 'mirror' && backend.protocol.isGuarded === true) {
      ended({ failure: 'no-endpoint' })
      return Promise.reject(new CallError('no-endpoint', 'the guards of the backend do not check copies'))
    }
    if (backend.refusal !== undefined || endpoint === undefined) {
      ended({ failure: 'no-endpoint' })
      return Promise.reject(new CallError('no-endpoint', backend.refusal?.detail))
    }
    const way = {
      endpoint,
      caller,
      claim,
      pool,
      wheel,
      room: this.#room,
      roomKey: `${request.purpose} ${key}`,
      atOnce: AT_ONCE[request.purpose],
      random,
      call: this.#callIn(caller, claim, depth + 1),
      failed: (failure: FailureCode) => {
        // A destination that a client chose says nothing about the configuration.
        if (!(endpoint.place instanceof RequestedPlaces)) failed(key, endpoint.label, failure)
      },
      ended,
      span,
    }
    return OneCall.make(way, request)
  }

  #endReporter({ purpose }: CallRequest, key: string, { calls: of }: Caller, span: ClientSpan | undefined) {
    const backend = backendName(key)
    const startMs = clock.monotonic()
    return ({ status, grpcStatus, failure }: CallEnd) => {
      const durationMs = clock.monotonic() - startMs
      this.#options.ended({ purpose, backend, status, grpcStatus, failure, durationMs, span, of })
    }
  }
}

/** The endpoint that the caller prefers, if it is in service, else one by load balancing. */
function chooseForCall(
  groups: LiveBackend['groups'],
  { prefer, avoid = [] }: CallRequest,
  random: () => number,
): LiveEndpoint | undefined {
  if (prefer === undefined && avoid.length === 0) return chooseEndpoint(groups, [], random)
  const all = groups.flat()
  const preferred = all.find(({ label, health }) => label === prefer && !health.evicted)
  if (preferred !== undefined) return preferred
  const avoided = all.filter(({ label }) => avoid.includes(label))
  return chooseEndpoint(groups, avoided, random)
}
