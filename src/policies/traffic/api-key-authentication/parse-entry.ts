import { fromByteText, toByteText, trimSpace } from '#base/byte-text.ts'
import { parseExactJson } from '#base/exact-json.ts'
import type { JsonObject } from '#base/json.ts'

/** A key defined by a Secret entry; the key is byte text. */
export interface ApiKeyEntry {
  readonly key: string
  readonly metadata: JsonObject
}

const NO_METADATA: JsonObject = {}

/**
 * Parses one Secret entry (byte text): the key itself, or a JSON object `{key, metadata}` (specification 1, 5.5).
 * Invalid JSON is never used as a key.
 * @returns on failure, a problem that does not contain the value
 */
export function parseEntry(value: string): ApiKeyEntry | string {
  const trimmed = trimSpace(value)
  if (trimmed === '') return 'is empty'
  return trimmed.startsWith('{') ? parseJsonEntry(trimmed) : { key: trimmed, metadata: NO_METADATA }
}

function parseJsonEntry(text: string): ApiKeyEntry | string {
  const parsed = parseJson(fromByteText(text))
  if (parsed === undefined) return 'starts with "{" but is not valid JSON'
  const { key, metadata = NO_METADATA, ...others } = parsed
  const unknown = Object.keys(others)
  if (unknown.length > 0) return `has unknown members: ${unknown.join(', ')}`
  if (typeof key !== 'string') return 'key must be a string'
  const trimmed = trimSpace(key)
  if (trimmed === '') return 'key is empty'
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return 'metadata must be an object'
  if (Object.hasOwn(metadata, 'key')) return 'metadata must not have a member named key'
  return { key: toByteText(trimmed), metadata: metadata as JsonObject }
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    // The text begins with a brace, so the result is an object.
    return parseExactJson(text) as Record<string, unknown>
  } catch {
    return undefined
  }
}
