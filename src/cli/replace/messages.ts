/** A program that a command asks a running gateway to start in its place: one line of JSON. */
export interface NewProgram {
  readonly runtime: string
  /** Options of the runtime, the script, and the words of its command line. */
  readonly words: readonly string[]
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** What the gateway answers when it is decided who serves: one line of JSON. */
export type Answer =
  | { readonly kind: 'replaced'; readonly before: number; readonly now: number }
  | { readonly kind: 'failed'; readonly cause: string }

/** From a gateway to the process that it started, which has inherited its sockets in the order of these lists. */
export type ToSuccessor =
  | {
      readonly kind: 'start'
      readonly traffic: readonly string[]
      readonly operators: readonly string[]
      readonly isReady: boolean
      /** Hexadecimal digits. */
      readonly sessionKey: string
    }
  /** The gateway has let go of the state folder. */
  | { readonly kind: 'over' }

export type FromSuccessor =
  /** It serves. */
  { readonly kind: 'running' } | { readonly kind: 'failed'; readonly cause: string }

/** In the environment of that process: the number of the process that started it. */
export const PREDECESSOR = 'GATEWRIGHT_PREDECESSOR'

/** After the standard streams and the channel of messages. */
export const FIRST_SOCKET = 4

/** In the state folder. */
export const REPLACE_SOCKET = 'replace.sock'
