import type { LlmFacts } from '#exchange/llm-facts.ts'
import { noteFinish } from '../../facts/finish-reasons.ts'
import { mayNote } from '../../facts/note-names.ts'
import { noteCounts, readInputDetails, readOutputDetails } from '../../facts/usage-details.ts'
import { countAt, objectAt } from '../../json/read-value.ts'
import { CHOICE } from '../../texts/treatments.ts'

/** Token counts of a `usage` object of the responses API; input counts include cached tokens. */
export function readResponsesUsage(usage: unknown, facts: LlmFacts): void {
  noteCounts(facts, {
    input: countAt(usage, 'input_tokens'),
    output: countAt(usage, 'output_tokens'),
    total: countAt(usage, 'total_tokens'),
  })
  readInputDetails(objectAt(usage, 'input_tokens_details'), facts)
  readOutputDetails(objectAt(usage, 'output_tokens_details'), facts)
}

/** The format has no reasons of its own; its final status is one, unless it says why the response is incomplete. */
export function noteStatus(status: unknown, facts: LlmFacts): void {
  if (status === 'queued' || status === 'in_progress' || facts.finishReasons.length > 0) return
  noteFinish(status, facts)
}

export function noteIncomplete(reason: unknown, facts: LlmFacts): void {
  if (typeof reason === 'string' && mayNote(reason, CHOICE, facts)) facts.finishReasons = [reason]
}
