import { hasRules } from './authorization.ts'
import type { McpSettings } from './compile-policy.ts'

/** A prepared MCP backend. */
export interface McpPlan extends McpSettings {
  /** Key of the backend: `ProxyBackend/<namespace>/<name>`. Sessions are bound to it. */
  readonly backend: string
  /** In the order of the configuration; at least one. */
  readonly targets: readonly McpTargetPlan[]
  /** There is more than one target, so public names begin with the name of the target. */
  readonly multiplexes: boolean
  readonly sessionRouting: 'Stateful' | 'Stateless'
  readonly failureMode: 'FailClosed' | 'FailOpen'
  /** Undefined: tools may change, which is only reported. */
  readonly pinning: ToolPinning | undefined
}

/** Tools that have changed are refused. */
export interface ToolPinning {
  /** Digests of the tools that may be used; undefined: those that each tool had first since the gateway was started. */
  readonly accepted: ReadonlySet<string> | undefined
}

/** One MCP server of the backend. */
export interface McpTargetPlan {
  readonly name: string
  /** Argument of `Call`: `ProxyBackend/<namespace>/<name>/<target>`. */
  readonly destination: string
  readonly path: string
  /** SSE: the HTTP+SSE transport of revision 2024-11-05. */
  readonly protocol: 'StreamableHTTP' | 'SSE'
  /** It is a Service with any number of replicas; a session stays at one of them. */
  readonly hasReplicas: boolean
  /** The target receives the client's `Authorization` and `Cookie` even if there are other targets (decision B80). */
  readonly takesCredentials: boolean
  /** Why the target cannot be used, for operators; it counts as failed. The problem has been reported. */
  readonly unusable: string | undefined
}

/**
 * Whether clients get the event ids of responses in sealed form: ids of several targets are ambiguous, and with an id that it makes up a
 * client could fetch a list from the only target, with what rules and pins hide.
 */
export function sealsEventIds({ multiplexes, authorization, pinning }: McpPlan): boolean {
  return multiplexes || hasRules(authorization) || pinning !== undefined
}
