/** Something about a backend that only traffic shows, and that whoever configures it has to mend. */
export interface BackendFact {
  /** Key of the `BackendItem`. */
  readonly backend: string
  readonly code: 'backend-not-http2'
  /** Where it was seen, as logs name endpoints. */
  readonly endpoint: string
}
