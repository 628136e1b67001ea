import type { A2aFacts } from '#exchange/a2a-facts.ts'
import type { DecidedBy } from '#exchange/decided-by.ts'
import type { Attempt, Callout, GuardCheck, PlanNames } from '#exchange/exchange.ts'
import type { LlmInterface, LlmTranslation } from '#exchange/llm-facts.ts'
import type { McpFacts } from '#exchange/mcp-facts.ts'
import type { KeptBody } from './kept-body.ts'
import type { Passed } from './passage.ts'

/** A decision as it happened; its record is built only when it is read. */
export interface KeptDecision {
  readonly number: number
  readonly timeMs: number
  readonly method: string
  readonly authority: string
  /** As received, with its credentials. */
  readonly target: string
  readonly redactedParameters: readonly string[]
  readonly clientAddress: string
  readonly clientPort: number
  readonly names: PlanNames
  readonly endpoint: string
  readonly section: string
  readonly consumer: string
  readonly status: number
  readonly reason: string
  /** When the request was received, on the monotonic clock. */
  readonly startMonotonicMs: number
  readonly passed: Passed
  readonly durationMs: number
  readonly sentMs: number | undefined
  readonly answeredMs: number | undefined
  readonly rare: RareFacts
}

/** What an ordinary request does not have. */
export interface RareFacts {
  readonly traceId: string
  readonly code: string
  readonly detail: string
  readonly decidedBy: DecidedBy | undefined
  readonly attempts: readonly Attempt[]
  readonly callouts: readonly Callout[]
  readonly provider: string
  readonly requestModel: string
  readonly responseModel: string
  readonly guardChecks: readonly GuardCheck[]
  readonly inputTokens: number
  readonly outputTokens: number
  readonly translation: LlmTranslation | undefined
  readonly removedFields: readonly string[]
  readonly misread: LlmInterface | undefined
  readonly errorType: string | undefined
  readonly mcp: KeptMcp | undefined
  readonly a2a: A2aFacts | undefined
  readonly requestBody: KeptBody | undefined
  readonly responseBody: KeptBody | undefined
}

const NONE: readonly never[] = []

/** Of an ordinary request. */
export const NOTHING_RARE: RareFacts = {
  traceId: '',
  code: '',
  detail: '',
  decidedBy: undefined,
  attempts: NONE,
  callouts: NONE,
  provider: '',
  requestModel: '',
  responseModel: '',
  guardChecks: NONE,
  inputTokens: 0,
  outputTokens: 0,
  translation: undefined,
  removedFields: NONE,
  misread: undefined,
  errorType: undefined,
  mcp: undefined,
  a2a: undefined,
  requestBody: undefined,
  responseBody: undefined,
}

/** An MCP message, for records and spans. */
export interface McpRecord {
  readonly method: string | undefined
  readonly target: string | undefined
  readonly resourceType: McpFacts['resourceType']
  /** Tool or prompt name, or resource URI, as the target names it. */
  readonly item: string | undefined
  /** As `mcp.session.id` in the access log. */
  readonly session: string | undefined
  readonly errorCode: number | undefined
  readonly errorMessage: string | undefined
}

/** The facts of a message that are kept; without arguments and results. */
export interface KeptMcp extends Omit<McpRecord, 'session'>, Pick<McpFacts, 'sessionId' | 'sessionDigest'> {}
