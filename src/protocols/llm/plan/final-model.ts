import type { LlmFacts } from '#exchange/llm-facts.ts'
import { modelOf } from '../models/models.ts'
import { findAlias, type ModelName } from '../settings/model-aliases.ts'
import type { AiProviderPlan } from './ai-plan.ts'

/** The model of a request after the pin of its provider and the aliases. */
export interface FinalModel {
  readonly name: string
  /** What the configuration replaces the model of the client with; it may be the same name. */
  readonly replacement: ModelName | undefined
  readonly facts: Pick<LlmFacts, 'requestModel' | 'knownModel'>
}

/**
 * One look-up with the result of the pin; body, path and metrics use the final name (decision B18).
 * @param given the model of the client
 * @returns undefined if there is none
 */
export function finalModel({ pin, settings }: AiProviderPlan, given: string | undefined): FinalModel | undefined {
  const { aliases } = settings
  const chosen = pin?.name ?? given
  if (chosen === undefined) return undefined
  const replacement = (aliases && findAlias(aliases, chosen)) ?? pin
  const name = replacement?.name ?? chosen
  const isConfigured = replacement !== undefined || aliases?.targets.has(name) === true
  return { name, replacement, facts: { requestModel: name, knownModel: isConfigured ? name : modelOf(name).name } }
}
