import type { ProviderDialect } from '../../chat/dialect.ts'
import { generatedAnswer } from '../../facts/answer-format.ts'
import { noteFinish, noteFinishes } from '../../facts/finish-reasons.ts'
import { type ChatFormat, TELEMETRY, type VendorFields } from '../format.ts'
import { formatError } from './errors.ts'
import { keepChoices } from './keep-answer.ts'
import { readAnswer } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { readStream } from './read-stream.ts'
import { adaptRequest, enrichMessages } from './request.ts'
import { readCompletionsUsage } from './response.ts'
import { CompletionsStream } from './stream.ts'
import { readAnswerTexts, readEventTexts, readRequestTexts } from './texts.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { writeStream } from './write-stream.ts'

/** What OpenAI's clients send. */
export const OPENAI: VendorFields = {
  prefixes: ['openai-', 'x-codex-', TELEMETRY],
  names: ['conversation_id', 'session_id'],
  keys: ['api-key'],
}

/** The chat completions API that OpenAI made, and most other vendors offer. */
export const COMPLETIONS: ChatFormat = {
  operation: 'chat',
  dialect: 'completions',
  client: { readRequest, writeAnswer, writeStream, keepsStream: false },
  vendor: OPENAI,
  promptMembers: ['messages'],
  readRequestTexts,
  enrich: enrichMessages,
  adapt: adaptRequest,
  formatError,
  answer: generatedAnswer(
    () => readCompletionsUsage,
    { choices: { keep: keepChoices, note: noteFinishes } },
    { 'choices[].finish_reason': noteFinish },
  ),
  answerTexts: { list: 'choices', whole: readAnswerTexts, event: readEventTexts },
  stream: () => new CompletionsStream(),
}

export const COMPLETIONS_PROVIDER: ProviderDialect = { writeRequest, readAnswer, readStream, takesAnyCallId: true }
