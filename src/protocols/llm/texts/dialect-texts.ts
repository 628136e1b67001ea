import type { Steps } from '#base/in-slices.ts'
import * as completions from '../completions/texts.ts'
import * as embeddings from '../embeddings/texts.ts'
import type { JsonValue } from '../json/json-document.ts'
import * as messages from '../messages/texts.ts'
import * as realtime from '../realtime/texts.ts'
import type { ClientFormat } from '../request/route-type.ts'
import * as responses from '../responses/texts.ts'
import type { BodyTexts, EventTexts, ExemptPlace } from './body-texts.ts'
import { readTexts } from './read-texts.ts'
import { type AnswerFormat, SEQUENCES, type TextOwner } from './read-together.ts'
import type { StreamNumbers } from './stream-numbers.ts'
import { type CompiledTable, compileTable, joinsAt } from './text-table.ts'
import { VISIBLE } from './treatments.ts'

/** Finds the texts of a body. @param exempt receives what no guard checks */
export type ReadTexts = (body: JsonValue, exempt?: ExemptPlace[]) => Steps<BodyTexts>

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
  /** The list in every answer of the API: without it, and without an error, the body is something else. */
  readonly list: 'choices' | 'content' | 'output'
  readonly whole: ReadTexts
  readonly event: (event: JsonValue, exempt?: ExemptPlace[], numbers?: StreamNumbers) => Steps<EventTexts>
}

/** The formats whose answers guards check (decision B41). */
export const ANSWER_TEXTS: Readonly<Record<AnswerFormat, AnswerTexts>> = {
  Completions: { list: 'choices', whole: completions.readAnswerTexts, event: completions.readEventTexts },
  Messages: { list: 'content', whole: messages.readAnswerTexts, event: messages.readEventTexts },
  Responses: { list: 'output', whole: responses.readAnswerTexts, event: responses.readEventTexts },
}

const ANSWERS: Readonly<Record<AnswerFormat, CompiledTable>> = {
  Completions: completions.ANSWER,
  Messages: messages.ANSWER,
  Responses: responses.ANSWER,
}

/** Where the text of a block of events is in a whole answer. */
export function answerPath(format: AnswerFormat, block: string): string {
  return format === 'Completions' ? block.replace(/^(choices\[\d+\]\.)delta\b/, '$1message') : block
}

/** The sequences of texts that the text of a block of events belongs to (`SEQUENCES`). @param path of the block in a whole answer */
export function sequencesOf(format: AnswerFormat, path: string, owner: TextOwner): readonly string[] {
  return joinsAt(ANSWERS[format], path) ? SEQUENCES[format](path, owner) : []
}

/** Errors of any vendor: every string is a text. */
const ERROR = compileTable({ first: [], runs: {}, places: { error: VISIBLE }, anywhere: {} })

export function readErrorTexts(body: JsonValue): Steps<BodyTexts> {
  return readTexts(body, ERROR)
}
