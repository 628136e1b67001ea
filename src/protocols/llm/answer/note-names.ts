import type { LlmFacts } from '#exchange/llm-facts.ts'
import { type Exemption, ID, MODEL } from '../texts/treatments.ts'

/** Notes the id of an answer, and its model. */
export function noteNames(id: string | undefined, model: string | undefined, facts: LlmFacts): void {
  if (id !== undefined && mayNote(id, ID, facts)) facts.responseId = id
  if (model !== undefined && mayNote(model, MODEL, facts)) facts.responseModel = model
}

/** Whether a text may get into logs and metrics, in a place that is exempt by its shape: where guards would check it for the client, it may be what they hide. */
export function mayNote(text: string, { shape }: Exemption, { isGuarded }: Pick<LlmFacts, 'isGuarded'>): boolean {
  return !isGuarded || shape!.test(text)
}
