import { sha256OfByteText } from '#base/sha256.ts'

/**
 * A session of an MCP client, or all requests without a session at one backend, for operators. It contains nothing that gives access to the
 * session.
 */
export interface McpSessionReport {
  /** As `mcp.session.id` in the access log; '': requests without a session. */
  readonly session: string
  /** Key of the backend. */
  readonly backend: string
  /** Name and version of the client, as it says itself; '' if it does not. */
  readonly client: string
  readonly clientVersion: string
  /** Revision of the protocol that the client offered. */
  readonly revision: string
  /** Wall clock, milliseconds since the epoch. */
  readonly createdMs: number
  /** Last request or end of a request. */
  readonly usedMs: number
  readonly targets: readonly McpTargetReport[]
  /** Requests of the client that have not ended, its stream of notifications (GET) included; oldest first. */
  readonly calls: readonly McpCallReport[]
  /** Newest first. */
  readonly errors: readonly McpErrorReport[]
}

export interface McpTargetReport {
  readonly target: string
  /** `renewed`: initialised after the session began, again or for the first time. `absent`: it could not be initialised. */
  readonly state: 'present' | 'renewed' | 'absent'
  readonly transport: 'StreamableHTTP' | 'SSE'
  /** `modern`: it speaks a revision without sessions. Undefined for an absent target. */
  readonly era: 'modern' | 'legacy' | undefined
  /** Revision of the protocol; undefined for an absent target. */
  readonly revision: string | undefined
  /** Tools whose description has changed since the gateway was started, as `name=digest`, at most 20. */
  readonly changedTools: readonly string[]
}

/** One request of the client. */
export interface McpCallReport {
  /** Method of the message; the HTTP method if there is no message. */
  readonly method: string
  /** Undefined for requests to all targets. */
  readonly target: string | undefined
  /** Tool or prompt name, or resource URI, as the target names it. */
  readonly item: string | undefined
  readonly sinceMs: number
}

export interface McpErrorReport extends Omit<McpCallReport, 'sinceMs'> {
  readonly timeMs: number
  /** Code of the gateway's refusal, or of the JSON-RPC error. */
  readonly code: string
  readonly message: string
}

/** Sessions of the workers that responded in time. */
export interface GatheredSessions {
  /** Last used first. */
  readonly sessions: readonly McpSessionReport[]
  /** Names of the workers that did not respond. */
  readonly unanswered: readonly string[]
}

/** Errors that are shown of a session. */
export const MAX_SESSION_ERRORS = 5

/** Sessions as all workers see them: a session whose requests came to several workers is one. Last used first. */
export function mergeSessions(reports: readonly McpSessionReport[]): McpSessionReport[] {
  const merged = new Map<string, McpSessionReport>()
  for (const report of reports) {
    const key = report.session === '' ? report.backend : report.session
    const other = merged.get(key)
    merged.set(key, other === undefined ? report : mergeTwo(report, other))
  }
  return [...merged.values()].sort((a, b) => b.usedMs - a.usedMs)
}

function mergeTwo(one: McpSessionReport, other: McpSessionReport): McpSessionReport {
  const newest = one.usedMs >= other.usedMs ? one : other
  return {
    ...newest,
    calls: [...one.calls, ...other.calls].sort((a, b) => a.sinceMs - b.sinceMs),
    errors: [...one.errors, ...other.errors].sort((a, b) => b.timeMs - a.timeMs).slice(0, MAX_SESSION_ERRORS),
  }
}

/** A session id gives access to its session; log and reports only need to distinguish sessions. */
export function shortSession(id: string): string {
  return sha256OfByteText(id).slice(0, 12)
}
