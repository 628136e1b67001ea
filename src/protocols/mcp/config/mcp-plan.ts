import type { McpSettings } from './compile-policy.ts'

/** An MCP backend, ready to run. */
export interface McpPlan extends McpSettings {
  /** Key of the backend: `ProxyBackend/<namespace>/<name>`. Sessions belong to it. */
  readonly backend: string
  /** In the order of the configuration; at least one. */
  readonly targets: readonly McpTargetPlan[]
  /** Names carry the target's name in front: there is more than one target. */
  readonly multiplexes: boolean
  readonly sessionRouting: 'Stateful' | 'Stateless'
  readonly failureMode: 'FailClosed' | 'FailOpen'
}

/** One MCP server behind the backend. */
export interface McpTargetPlan {
  readonly name: string
  /** What to give to `Call`: `ProxyBackend/<namespace>/<name>/<target>`. */
  readonly destination: string
  readonly path: string
  /** The client's `Authorization` and `Cookie` go there even though there are other targets (decision B80). */
  readonly takesCredentials: boolean
  /** Why it cannot be reached, for operators; it then counts as failed. The problem has been reported. */
  readonly unusable: string | undefined
}
