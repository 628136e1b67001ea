/** The admin server of a running gateway, wherever that is. */
export interface AdminServer {
  /** For messages: `http://127.0.0.1:15000/`, `pod infra/main-7d9c`. */
  readonly name: string
  /** Name of its pod; undefined: it is not one of several. */
  readonly pod: string | undefined
  /** What says where it is, for the message that something else is there. */
  readonly setting: string
  /**
   * Sends a GET.
   * @param path with the query
   * @throws Unanswered
   */
  send(path: string, signal: AbortSignal): Promise<Response>
}

/** A server cannot be asked. */
export class Unanswered extends Error {
  override readonly name = 'Unanswered'
}

/** The gateway that a command asks: one server on this machine, or the pods of a Gateway. */
export interface ReachedGateway extends Disposable {
  /** How messages call it: `the gateway`, `Gateway infra/main`. */
  readonly name: string
  /** All that run now. @throws ApiUnreadable */
  servers(): Promise<readonly AdminServer[]>
  /** One that serves requests. @throws ApiUnreadable */
  server(): Promise<AdminServer>
}
