/** Facts about a request to an A2A agent and its answer: the `a2a` variable of expressions, and log fields. */
export interface A2aFacts {
  /** In the names of protocol 1.0, `agent-card`, or `unknown`. */
  readonly method: string
}
