import type { LlmFacts } from '#exchange/llm-facts.ts'
import { CHOICE, type Exemption, ID, MODEL } from '../texts/treatments.ts'

/** Notes the id of an answer, and its model. */
export function noteNames(id: string | undefined, model: string | undefined, facts: LlmFacts): void {
  if (id !== undefined && mayNote(id, ID, facts)) facts.responseId = id
  if (model !== undefined && mayNote(model, MODEL, facts)) facts.responseModel = model
}

/** Notes the tier in which the provider has answered. */
export function noteTier(tier: string | undefined, facts: LlmFacts): void {
  if (tier !== undefined && mayNote(tier, CHOICE, facts)) facts.serviceTier = tier
}

/**
 * Whether a text may be logged. Guards exempt a text in such a place only if it has the expected shape. They check any other text there, so
 * that it may be one that they mask.
 */
export function mayNote(text: string, { shape }: Exemption, { isGuarded }: Pick<LlmFacts, 'isGuarded'>): boolean {
  return !isGuarded || shape!.test(text)
}
