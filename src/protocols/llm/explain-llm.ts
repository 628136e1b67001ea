import { type LlmFacts, misreadText } from '#exchange/llm-facts.ts'
import { isChatType } from './dialects/index.ts'
import type { PromptGuards } from './guards/guard.ts'
import { describeResponseGuard } from './guards/trace-guards.ts'
import type { RouteType } from './settings/policy-schema.ts'

/** The width of the labels of `explain`. */
const INDENT = ' '.repeat(10)

/** How a request was prepared for its provider, for `explain`. */
export function describeLlm(
  type: RouteType | undefined,
  facts: LlmFacts | undefined,
  guards: PromptGuards | undefined,
): readonly string[] {
  if (type === undefined) return ['llm       no route type']
  const unguarded =
    guards !== undefined && (type === 'Passthrough' || type === 'Detect')
      ? [`${INDENT}no prompt guard checks requests and answers of this type`]
      : []
  if (facts === undefined) return [`llm       ${type}`, ...unguarded]
  const { provider, requestModel, translation, misread, removedFields: removed } = facts
  const model = requestModel === '' ? '' : `, model ${requestModel}`
  const lines = [`llm       ${type} to ${provider}${model}`]
  if (misread !== undefined) lines.push(INDENT + misreadText(misread))
  if (translation !== undefined) {
    const { from, to, dropped } = translation
    lines.push(`${INDENT}translated from ${from} to ${to}`)
    if (dropped.length > 0) lines.push(`${INDENT}left out: ${dropped.join(', ')}`)
  }
  if (removed.length > 0) lines.push(`${INDENT}dropped because their transformations failed: ${removed.join(', ')}`)
  lines.push(...unguarded)
  if (guards !== undefined && isChatType(type))
    lines.push(...guards.response.map((guard) => INDENT + describeResponseGuard(guard)))
  return lines
}
