import * as completions from '../completions/texts.ts'
import * as embeddings from '../embeddings/texts.ts'
import type { JsonValue } from '../json/json-document.ts'
import * as messages from '../messages/texts.ts'
import * as realtime from '../realtime/texts.ts'
import type { ClientFormat } from '../request/route-type.ts'
import * as responses from '../responses/texts.ts'
import type { BodyTexts, EventTexts } from './body-texts.ts'

type ReadTexts = (body: JsonValue) => BodyTexts

/** The texts of requests, by route type; those of `Realtime` are in each event of the client. */
export const REQUEST_TEXTS: Readonly<Record<ClientFormat | 'Realtime', ReadTexts>> = {
  Completions: completions.readRequestTexts,
  Messages: messages.readRequestTexts,
  MessagesTokenCount: messages.readRequestTexts,
  Responses: responses.readRequestTexts,
  Embeddings: embeddings.readRequestTexts,
  Realtime: realtime.readRequestTexts,
}

/** How answers are read: whole ones, and the events of streams. */
export interface AnswerTexts {
  readonly whole: ReadTexts
  readonly event: (event: JsonValue) => EventTexts
}

/** The formats whose answers guards check (decision B41). */
export const ANSWER_TEXTS: Readonly<Record<'Completions' | 'Messages' | 'Responses', AnswerTexts>> = {
  Completions: { whole: completions.readAnswerTexts, event: completions.readEventTexts },
  Messages: { whole: messages.readAnswerTexts, event: messages.readEventTexts },
  Responses: { whole: responses.readAnswerTexts, event: responses.readEventTexts },
}
