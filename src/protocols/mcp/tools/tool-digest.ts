import { toByteText } from '#base/byte-text.ts'
import { isRawNumber } from '#base/exact-json.ts'
import { foldCase } from '#base/fold-case.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { sha256OfByteText } from '#base/sha256.ts'

/** What clients and models read of a tool. */
const PINNED: ReadonlySet<string> = new Set(
  ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'].map(foldCase),
)

/** 128 bits of SHA-256, as 32 hexadecimal digits. The order of members does not matter: some servers change it with each response. */
export function digestOfTool(tool: JsonObject): string {
  return sha256OfByteText(toByteText(orderedText(pinnedPart(tool)))).slice(0, 32)
}

/** With members that a client which ignores letter case could read instead. */
function pinnedPart(tool: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(tool).filter(([name]) => PINNED.has(foldCase(name))))
}

function orderedText(value: Json): string {
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(orderedText).join(',')}]`
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${orderedText(member)}`).join(',')}}`
}
