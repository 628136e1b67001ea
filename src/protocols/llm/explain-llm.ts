import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { RouteType } from './policy-schema.ts'

/** How a request was prepared for its provider, for `explain`. */
export function describeLlm(type: RouteType | undefined, facts: LlmFacts | undefined): readonly string[] {
  if (type === undefined) return ['llm  no route type']
  if (facts === undefined) return [`llm  ${type}`]
  const { provider, requestModel, translation } = facts
  const model = requestModel === '' ? '' : `, model ${requestModel}`
  const lines = [`llm  ${type} to ${provider}${model}`]
  if (translation === undefined) return lines
  const { from, to, dropped } = translation
  lines.push(`translated  from ${from} to ${to}`)
  if (dropped.length > 0) lines.push(`not carried  ${dropped.join(', ')}`)
  return lines
}
