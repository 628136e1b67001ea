/** Of a session, in each worker. More requests than any client has in flight, and more streams than it needs to continue interrupted responses. */
const BOUNDS = { request: 1000, stream: 64 } as const

/** What the sessions of a worker have open: requests in flight, and streams of notifications. */
export class SessionLoad {
  readonly #requests = new Map<string, number>()
  readonly #streams = new Map<string, number>()

  /** @returns call it at the end; undefined: the session has too many open */
  begin(kind: keyof typeof BOUNDS, sessionKey: string): (() => void) | undefined {
    const open = kind === 'request' ? this.#requests : this.#streams
    const count = open.get(sessionKey) ?? 0
    if (count >= BOUNDS[kind]) return undefined
    open.set(sessionKey, count + 1)
    return () => {
      const left = open.get(sessionKey)! - 1
      if (left === 0) open.delete(sessionKey)
      else open.set(sessionKey, left)
    }
  }
}
