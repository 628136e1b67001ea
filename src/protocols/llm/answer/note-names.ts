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

/** Whether a text may get into logs and metrics, in a place that is exempt by its shape: where guards would check it for the client, it may be what they hide. */
export function mayNote(text: string, { shape }: Exemption, { isGuarded }: Pick<LlmFacts, 'isGuarded'>): boolean {
  return !isGuarded || shape!.test(text)
}
