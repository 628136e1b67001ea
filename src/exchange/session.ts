/** One endpoint of the plan. */
export interface EndpointName {
  /** Key of the backend. */
  readonly backend: string
  /** Name of the section, or `host:port`, or the path of a socket. */
  readonly endpoint: string
}

/** The persistent session of a request (Gateway API, SessionPersistence). */
export interface Session {
  /** The endpoint of the session; undefined: the request has no valid session. */
  readonly bound: EndpointName | undefined
  /** Start of the session, milliseconds since the epoch. */
  readonly startMs: number
  /** The endpoint of the last attempt. */
  used: EndpointName | undefined
}
