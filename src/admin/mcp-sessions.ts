import { clock } from '#base/clock.ts'
import type {
  GatheredSessions,
  McpCallReport,
  McpErrorReport,
  McpSessionReport,
  McpTargetReport,
} from '#observe/mcp-session-report.ts'

const DEFAULT_LIMIT = 1000
const PARAMETERS = ['backend', 'limit', 'session']

/** A session with times for people, as the endpoint shows it. */
export interface DescribedSession
  extends Pick<McpSessionReport, 'session' | 'backend' | 'client' | 'clientVersion' | 'revision' | 'targets'> {
  /** ISO 8601. */
  readonly created: string
  readonly ageSeconds: number
  /** Since the last request; 0 while one is in flight. */
  readonly idleSeconds: number
  readonly calls: readonly DescribedCall[]
  readonly errors: readonly DescribedError[]
}

export interface DescribedCall extends Omit<McpCallReport, 'sinceMs'> {
  readonly since: string
  readonly seconds: number
}

export interface DescribedError extends Omit<McpErrorReport, 'timeMs'> {
  readonly time: string
}

export type { McpTargetReport }

export type SessionSelection =
  | { readonly kind: 'sessions'; readonly sessions: readonly DescribedSession[] }
  /** The query is invalid. */
  | { readonly kind: 'refused'; readonly message: string }

/**
 * Selects the sessions that match a query.
 * @param query `backend` as in the session, `session` as `mcp.session.id` in the log, `limit` (default 1000)
 */
export function selectSessions({ sessions }: GatheredSessions, query: URLSearchParams): SessionSelection {
  const unknown = [...query.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) return refuse(`unknown parameter; use ${PARAMETERS.join(', ')}`)
  const limit = query.get('limit') ?? String(DEFAULT_LIMIT)
  if (!/^[1-9]\d{0,5}$/.test(limit)) return refuse('limit must be a number from 1 to 999999')
  const backend = query.get('backend')
  const session = query.get('session')
  const wanted = sessions.filter(
    (report) => (backend === null || report.backend === backend) && (session === null || report.session === session),
  )
  const nowMs = clock.now()
  return {
    kind: 'sessions',
    sessions: wanted.slice(0, Number(limit)).map((report) => describeSession(report, nowMs)),
  }
}

/** @param nowMs wall clock */
export function describeSession(
  { createdMs, usedMs, calls, errors, ...report }: McpSessionReport,
  nowMs: number,
): DescribedSession {
  return {
    ...report,
    created: isoTime(createdMs),
    ageSeconds: secondsSince(createdMs, nowMs),
    idleSeconds: calls.length > 0 ? 0 : secondsSince(usedMs, nowMs),
    calls: calls.map(({ sinceMs, ...call }) => ({
      ...call,
      since: isoTime(sinceMs),
      seconds: secondsSince(sinceMs, nowMs),
    })),
    errors: errors.map(({ timeMs, ...error }) => ({ ...error, time: isoTime(timeMs) })),
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

function secondsSince(ms: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - ms) / 1000))
}

function refuse(message: string): SessionSelection {
  return { kind: 'refused', message }
}
