/** `spec` of a `BackendItem` of type `mcp`: the targets as they resolve now, in the order of the object. */
export interface ResolvedMcpBackend {
  readonly targets: readonly ResolvedMcpTarget[]
  readonly sessionRouting: 'Stateful' | 'Stateless'
  /** Unset: FailClosed. */
  readonly failureMode?: 'FailClosed' | 'FailOpen'
}

/** One MCP server. It has either a host or a backend; port, path and protocol are its own in both cases. */
export interface ResolvedMcpTarget {
  /** What clients see when several targets share a backend. */
  readonly name: string
  /**
   * Name of the entry of `spec.mcp.targets` that it comes from. Policies with a `sectionName` reach a target by its entry
   * (all that a selector found) and by its name (this one, stronger; decision B60).
   */
  readonly entry: string
  readonly host?: string
  /** Key of a `BackendItem` of type `service`. */
  readonly backend?: string
  readonly port: number
  /** Unset: the default of the protocol. */
  readonly path?: string
  /** Unset: StreamableHTTP. */
  readonly protocol?: 'StreamableHTTP' | 'SSE'
  /** Set when it cannot be used: it counts as a failed target. */
  readonly broken?: string
}
