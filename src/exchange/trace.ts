import type { PolicySource, Stage } from './decided-by.ts'

/** The effect of one step on one exchange, in words; only for `explain`. */
export interface TraceStep {
  readonly stage: Stage
  readonly name: string
  readonly verdict: 'proceed' | 'refuse' | 'answer'
  readonly detail: string | undefined
  readonly origins: readonly PolicySource[]
  /** What the policy evaluated, as far as the verdict does not show it. */
  readonly notes?: readonly string[]
}

/** The position of a credential in a request. */
export interface WrittenCredential {
  readonly kind: 'header' | 'queryParameter' | 'cookie'
  readonly name: string
}

/** The key of a limit, and the value of the request; undefined if it has none. */
export interface TracedKey {
  readonly expression: string
  readonly value: string | undefined
  /** The value may contain a credential. */
  readonly isSecret: boolean
}

/** A local rate limit that a request takes from. */
export interface TracedLimit {
  readonly unit: 'requests' | 'tokens'
  readonly capacity: number
  readonly unitMs: number
  /** For a limit by caller. */
  readonly key: TracedKey | undefined
}

/** A question to a server that a policy asks. */
export interface TracedCallout {
  readonly policy: string
  /** `<namespace>/<name>` of the backend. */
  readonly backend: string
  readonly question: TracedHttp | TracedGrpc
}

export interface TracedHttp {
  readonly protocol: 'http'
  /** In the form of HTTP/1.1, as byte text. */
  readonly message: string
  /** Headers that may hold credentials, besides those with conventional names. */
  readonly credentials: readonly WrittenCredential[]
}

export interface TracedGrpc {
  readonly protocol: 'grpc'
  /** `/package.Service/Method`. */
  readonly path: string
  /** By the names of its fields. */
  readonly message: object
  /** Size of the message. */
  readonly bytes: number
  /** Texts in it that may be credentials. */
  readonly secrets: readonly string[]
}

/** Collects what happens to one exchange. */
export interface Trace {
  /** Servers are asked. Otherwise they count as allowing the request. */
  readonly isCalling: boolean
  step(step: TraceStep): void
  limit(limit: TracedLimit): void
  /** Adds a note to the current step. */
  note(text: string): void
  callout(callout: TracedCallout): void
  /** The backend with this key is to get a copy of `numerator` in `denominator` requests. */
  copy(backend: string, numerator: number, denominator: number): void
  /** The gateway wrote a credential to this header, query parameter or cookie of the request. */
  credential(kind: WrittenCredential['kind'], name: string): void
}
