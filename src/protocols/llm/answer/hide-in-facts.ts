import type { Exchange } from '#exchange/exchange.ts'
import type { LlmFacts } from '#exchange/llm-facts.ts'
import { sentSecret } from '#exchange/sent-secret.ts'

/** What is before a credential in its field. */
const SCHEME_LENGTH = 'Bearer '.length

/**
 * Hides the credential of the gateway in the texts that a provider chooses and that log, records, metrics and traces have: it may be a token that
 * no object of the configuration has, so that nothing else knows it. Ids and names are shorter than most credentials, and need no search.
 */
export function hideInFacts(facts: LlmFacts, exchange: Exchange): void {
  const { sentCredential } = exchange
  if (sentCredential === undefined) return
  const { responseModel = '', responseId = '', errorType = '', serviceTier = '', finishReasons } = facts
  const shortest = sentCredential.length - SCHEME_LENGTH
  const texts = [responseModel, responseId, errorType, serviceTier, ...finishReasons]
  if (texts.every(({ length }) => length < shortest)) return
  const secret = sentSecret(exchange)
  if (secret === undefined) return
  facts.responseModel &&= secret.hideIn(responseModel)
  facts.responseId &&= secret.hideIn(responseId)
  facts.errorType &&= secret.hideIn(errorType)
  facts.serviceTier &&= secret.hideIn(serviceTier)
  facts.finishReasons = finishReasons.map((reason) => secret.hideIn(reason))
}
