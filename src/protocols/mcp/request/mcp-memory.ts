import { PerWorker } from '../../backend-protocol.ts'
import { CallsInFlight } from '../session/calls-in-flight.ts'
import { OpenStreams } from '../session/open-streams.ts'
import { SessionActivities } from '../session/session-activity.ts'
import { SessionLoad } from '../session/session-load.ts'
import { OpenedSessions } from '../session/session-state.ts'
import type { TargetSession } from '../session/target-session.ts'
import { KnownTools } from '../tools/known-tools.ts'
import { HeldCalls } from './held-calls.ts'
import { Reachability } from './reachability.ts'
import type { SseConnection } from './sse-connection.ts'

/** State of a worker between requests. Except for `connections`, it only improves precision; everything works without it. */
export class McpMemory {
  readonly opened = new OpenedSessions()
  /** Open streams of notifications, by backend. */
  readonly streams = new OpenStreams()
  /** Targets that respond without a session, by era of the client and destination. */
  readonly sessionless = new Map<string, SessionlessTarget>()
  /** Until when a target is assumed to speak no revision without sessions, by destination; wall clock. */
  readonly legacyUntil = new Map<string, number>()
  /** Header fields for arguments, by destination. */
  readonly paramHeaders = new Map<string, ParamHeaders>()
  /** Tools that are called as tasks only, by destination. */
  readonly taskTools = new Map<string, TaskTools>()
  /** Until when a target that could not be initialised is left alone, by destination; monotonic milliseconds. */
  readonly absentUntil = new Map<string, number>()
  readonly activities = new SessionActivities()
  readonly tools = new KnownTools()
  readonly load = new SessionLoad()
  readonly reachability = new Reachability()
  /** Targets that are being initialised again, by session and name. */
  readonly renewals = new Map<string, Promise<TargetSession | undefined>>()
  readonly calls = new CallsInFlight()
  /** Calls that wait for the input of a client. */
  readonly held = new HeldCalls()
  /** Connections to targets with the HTTP+SSE transport, by their id. */
  readonly connections = new Map<string, SseConnection>()
  /** How many messages of clients with that transport are being served, by the key of their stream. */
  readonly served = new Map<string, number>()
  /** Requests whose clients have left, and may cancel them. */
  late = 0
}

export interface TaskTools {
  readonly names: ReadonlySet<string>
  /** Monotonic milliseconds. */
  readonly untilMs: number
}

/** Names of arguments and of the header fields that repeat them, by tool. */
export type ParamHeaders = ReadonlyMap<string, readonly (readonly [argument: string, field: string])[]>

export const MCP_MEMORY = new PerWorker(() => new McpMemory())

/** The result of initialising a target without session ids. It is reused for a while (decision B66). */
export interface SessionlessTarget {
  readonly session: TargetSession
  readonly untilMs: number
}
