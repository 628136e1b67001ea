/** A problem of a backend that only traffic reveals, and that only a change of its configuration solves. */
export interface BackendFact {
  /** Key of the `BackendItem`. */
  readonly backend: string
  readonly code: 'backend-not-http2' | 'backend-is-gateway' | 'llm-path-not-completions'
  /** The endpoint where it was observed, as in logs, or the end of the path. It never contains text of a request. */
  readonly at: string
}

/** What is reported once of a backend: each misread path, but one endpoint for all. */
export function factKey({ backend, code, at }: BackendFact): string {
  return code === 'llm-path-not-completions' ? `${backend} ${code} ${at}` : `${backend} ${code}`
}
