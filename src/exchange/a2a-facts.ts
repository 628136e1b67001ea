/** Facts about a request to an A2A agent and its answer, for log and metrics. The `a2a` variable of expressions has the method. */
export interface A2aFacts {
  /** In the names of protocol 1.0, `agent-card`, or `unknown`. */
  readonly method: string
  /** What the answer says: `unknown` if it cannot be read. Undefined before an answer, and for gRPC, which has a status. */
  outcome?: 'success' | 'error' | 'unknown'
  /** Code of a JSON-RPC error. */
  errorCode?: number
  /** The last one of a stream. */
  resultKind?: A2aResultKind
  taskId?: string
  contextId?: string
  /** The last one of a stream, in the words of protocol 0.3. */
  taskState?: string
}

export type A2aResultKind = 'task' | 'message' | 'status-update' | 'artifact-update'

/** States of tasks (A2A 1.0, 4.1.3). */
export const A2A_TASK_STATES: ReadonlySet<string> = new Set([
  'submitted',
  'working',
  'input-required',
  'auth-required',
  'completed',
  'canceled',
  'failed',
  'rejected',
])
