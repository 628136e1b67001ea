import type { LlmFacts } from '#exchange/llm-facts.ts'
import { elementsOf, memberOf } from '../json/read-value.ts'
import { CHOICE } from '../texts/treatments.ts'
import { mayNote } from './note-names.ts'

/** A provider decides how many choices there are. */
const MAX_REASONS = 128

/** Notes why the model stopped. @param reason anything but a text is ignored: the model has not stopped yet */
export function noteFinish(reason: unknown, facts: LlmFacts): void {
  if (typeof reason !== 'string' || facts.finishReasons.length >= MAX_REASONS) return
  if (mayNote(reason, CHOICE, facts)) facts.finishReasons = [...facts.finishReasons, reason]
}

/** The same for each choice of chat completions. */
export function noteFinishes(choices: unknown, facts: LlmFacts): void {
  for (const choice of elementsOf(choices)) noteFinish(memberOf(choice, 'finish_reason'), facts)
}
