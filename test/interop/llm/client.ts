import type { Upstream } from './upstreams.ts'

/** A package of a vendor, or one of its interfaces. */
export interface Client {
  readonly name: string
  /** Why it cannot reach an upstream; undefined: it can. */
  unreachable?(upstream: Upstream): string | undefined
  /** Its API passes through: no guard reads it. */
  readonly isPassed?: boolean
  /** Why it cannot do a scenario; undefined: it can. */
  cannot?(scenario: string, upstream: Upstream): string | undefined
  /** Why thoughts do not come back with it; undefined: they do. */
  losesThoughts?(upstream: Upstream, scenario: string): string | undefined
  /** Names of its classes of errors, by status. */
  readonly errors?: Readonly<Record<string, string>>
  /** Missing: it does not chat. */
  connect?(target: Target): Connection
  /** What only this client does. */
  readonly checks?: Readonly<Record<string, (target: Target) => Promise<void>>>
}

export interface Target {
  /** `http://127.0.0.1:1234/<upstream>` */
  readonly url: string
  /** The same over TLS, with a certificate of `CERTIFICATES.ca`. */
  readonly secureUrl: string
  readonly upstream: Upstream
  /** To be sent with each request. */
  readonly headers: Readonly<Record<string, string>>
}

/** Chats. */
export interface Connection {
  ask(question: Question): Promise<Answer>
  stream(question: Question, onText: () => void): Promise<Answer>
  /** Asks for JSON with what the client has for it. */
  parse(question: Question, schema: object): Promise<unknown>
  /** Lets the client run tools until the model has a text. */
  runTools?(question: Question, run: (city: string) => string, isStream: boolean): Promise<string>
  /** What a call that failed says; undefined: it is no error of the client. */
  faultOf(error: unknown): Fault | undefined
}

export interface Question {
  readonly prompt?: string
  /** Base64 of a PNG. */
  readonly image?: string
  readonly offersTools?: boolean
  readonly thinks?: boolean
  readonly limit?: number
  readonly signal?: AbortSignal
  /** Of the answer that it follows. */
  readonly history?: unknown
  readonly results?: readonly Result[]
}

export interface Result {
  readonly id: string
  readonly name: string
  readonly text: string
}

export interface Answer {
  readonly text: string
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: unknown }[]
  readonly reason: 'stop' | 'length' | 'calls' | 'refusal' | `? ${string}`
  /** Input includes what was read from a cache. */
  readonly usage: {
    readonly input: number | undefined
    readonly cached: number | undefined
    readonly output: number | undefined
  }
  /** Everything until here, in the words of the client. */
  readonly history: unknown
}

export interface Fault {
  readonly status: number | undefined
  readonly message: string
  /** `hidden`: the client does not show headers. */
  readonly retryAfter: string | undefined
  /** Name of the class of the error. */
  readonly kind: string
}

/** A reason of an API in words of all. */
export function reasonFrom(names: Readonly<Record<string, Answer['reason']>>, reason: unknown): Answer['reason'] {
  return names[String(reason)] ?? `? ${String(reason)}`
}
