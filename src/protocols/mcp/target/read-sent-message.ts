import { parseJson } from '#base/parse-json.ts'
import type { SentMcp } from '#exchange/request-span.ts'

/** What the span of a message to a target says about it; undefined for a response. @param message JSON-RPC text of the gateway */
export function readSentMessage(message: string): SentMcp | undefined {
  const { method, params } = parseJson(message) as { method?: unknown; params?: { name?: unknown } }
  if (typeof method !== 'string') return undefined
  const name = params?.name
  if (typeof name !== 'string') return { method }
  if (method === 'tools/call') return { method, tool: name }
  return method === 'prompts/get' ? { method, prompt: name } : { method }
}
