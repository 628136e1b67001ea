/** A fact about a backend that only traffic shows, and that requires a change of its configuration. */
export interface BackendFact {
  /** Key of the `BackendItem`. */
  readonly backend: string
  readonly code: 'backend-not-http2'
  /** The endpoint where it was observed, as in logs. */
  readonly endpoint: string
}
