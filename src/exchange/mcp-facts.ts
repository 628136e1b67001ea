/** What is known of an MCP message; the `mcp` variable of expressions and log fields. */
export interface McpFacts {
  method: string | undefined
  sessionId: string | undefined
  target: string | undefined
  resourceType: 'tool' | 'prompt' | 'resource' | undefined
  /** Tool or prompt name, or resource URI, as the target knows it. */
  name: string | undefined
  errorCode: number | undefined
  /** Answers of targets to what they were not asked, by target; they were dropped. */
  strayAnswers: Map<string, number> | undefined
  /** Where the content of a tool call is kept; undefined while no log expression reads it (decision B99). */
  readonly toolCall: McpToolCall | undefined
}

/** Nothing is known yet. */
export const NO_MCP: McpFacts = {
  method: undefined,
  sessionId: undefined,
  target: undefined,
  resourceType: undefined,
  name: undefined,
  errorCode: undefined,
  strayAnswers: undefined,
  toolCall: undefined,
}

/** What went through a tool, as parsed JSON. Of result and error only one is there, and none of them before the tool has answered. */
export interface McpToolCall {
  /** A longer answer is not kept. In characters. */
  readonly maxLength: number
  arguments: unknown
  result: unknown
  error: unknown
}

export function beginToolCall(maxLength: number): McpToolCall {
  return { maxLength, arguments: undefined, result: undefined, error: undefined }
}
