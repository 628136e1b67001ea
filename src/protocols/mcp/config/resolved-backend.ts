/** `spec` of a `BackendItem` of type `mcp`: the currently resolved targets, in the order of the object. */
export interface ResolvedMcpBackend {
  readonly targets: readonly ResolvedMcpTarget[]
  readonly sessionRouting: 'Stateful' | 'Stateless'
  /** Unset: FailClosed. */
  readonly failureMode?: 'FailClosed' | 'FailOpen'
  /** Tools that have changed are refused. `accepted`: digests of the tools that may be used; unset: their first ones. */
  readonly toolPinning?: { readonly accepted?: readonly string[] }
}

/** One MCP server. It has either a host or a backend; port, path and protocol are its own in both cases. */
export interface ResolvedMcpTarget {
  /** The name that clients see if several targets share a backend. */
  readonly name: string
  /**
   * Name of the entry of `spec.mcp.targets` that the target comes from. Policies with a `sectionName` match the entry (all targets of a
   * selector) or the name (this target, with higher precedence; decision B60).
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
  /** Set if the target cannot be used: it counts as failed. */
  readonly broken?: string
}
