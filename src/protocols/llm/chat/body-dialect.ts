import type { LlmFacts } from '#exchange/llm-facts.ts'
import type { Head } from '#net/http/head.ts'
import type { JsonValue } from '../json/json-document.ts'
import type { Losses } from './losses.ts'

/** A dialect of requests whose answers are never streams: texts to embed, a chat whose tokens are to be counted. */
export interface BodyDialect {
  /**
   * Translates a request of the client. Throws `Untranslatable` for what cannot be left out; what else has no counterpart is a loss.
   * @param head the request's head
   */
  translate(request: JsonValue, head: Head, losses: Losses): TranslatedBody
}

export interface TranslatedBody {
  /** For `writeJson`. */
  readonly body: object
  /**
   * Makes the answer for the client, for `writeJson`, and sets its facts. Throws `Untranslatable`.
   * @param head the response's head
   */
  answer(body: JsonValue, head: Head, facts: LlmFacts): object
}
