/** What is known of an MCP message; the `mcp` variable of expressions and log fields. */
export interface McpFacts {
  method: string | undefined
  sessionId: string | undefined
  target: string | undefined
  resourceType: 'tool' | 'prompt' | 'resource' | undefined
  /** Tool or prompt name, or resource URI, as the target knows it. */
  name: string | undefined
  errorCode: number | undefined
}
