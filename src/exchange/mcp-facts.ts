import { cutText } from '#base/cut-text.ts'
import { CelError } from '#cel/index.ts'

/** Facts about an MCP message: the `mcp` variable of expressions, and log fields. */
export interface McpFacts {
  method: string | undefined
  sessionId: string | undefined
  /** Digest of `sessionId` (`shortSession`) if it is known; undefined: it has not been computed. */
  sessionDigest: string | undefined
  target: string | undefined
  resourceType: 'tool' | 'prompt' | 'resource' | 'task' | undefined
  /** Tool or prompt name, or resource URI, as the target names it. */
  name: string | undefined
  /** Arguments of a tool call, as parsed JSON; `UNKNOWN_ARGUMENTS` for a tool in a list; undefined for other items. */
  toolArguments: unknown
  /** Of a tool; `UNKNOWN_ANNOTATIONS` if its target has not said them; undefined for other items. */
  toolAnnotations: ToolAnnotations | CelError | undefined
  errorCode: number | undefined
  /** Of the same JSON-RPC error, from a target or from the gateway; bounded. */
  errorMessage: string | undefined
  /** Unsolicited responses of targets, by target; they were dropped. */
  strayAnswers: Map<string, number> | undefined
  /** Failures of targets that did not fail the request, for operators (FailOpen). */
  toleratedFailures: string[] | undefined
  /** The response to a tool call; undefined if no log expression reads it (decision B99). */
  readonly toolCall: McpToolCall | undefined
}

/** Of a message of an error, in characters: targets may send any text. */
const MAX_ERROR_MESSAGE = 512

/** The JSON-RPC error that the request ends with. */
export function noteMcpError(mcp: McpFacts | undefined, code: number | undefined, message: unknown): void {
  if (mcp === undefined) return
  mcp.errorCode = code ?? mcp.errorCode
  mcp.errorMessage = typeof message === 'string' ? cutText(message, MAX_ERROR_MESSAGE) : undefined
}

/** Nothing is known yet. */
export const NO_MCP: McpFacts = {
  method: undefined,
  sessionId: undefined,
  sessionDigest: undefined,
  target: undefined,
  resourceType: undefined,
  name: undefined,
  toolArguments: undefined,
  toolAnnotations: undefined,
  errorCode: undefined,
  errorMessage: undefined,
  strayAnswers: undefined,
  toleratedFailures: undefined,
  toolCall: undefined,
}

/** A listed tool has not been called yet. */
export const UNKNOWN_ARGUMENTS = new CelError('unknown', 'mcp.tool.arguments is known only for calls')

/** The tool is in no list of its target that the gateway could read. */
export const UNKNOWN_ANNOTATIONS = new CelError('unknown', 'the annotations of the tool are not known')

/** What a target says of its tool, with the defaults of the protocol. */
export interface ToolAnnotations {
  readonly title: string | undefined
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** The response to a tool call, as parsed JSON. At most one of result and error is set, and neither before the tool has responded. */
export interface McpToolCall {
  /** Longer responses are not kept. In characters. */
  readonly maxLength: number
  result: unknown
  error: unknown
}

export function beginToolCall(maxLength: number): McpToolCall {
  return { maxLength, result: undefined, error: undefined }
}
