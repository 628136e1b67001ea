import { generatedAnswer } from '../../facts/answer-format.ts'
import { formatError } from '../completions/errors.ts'
import { OPENAI } from '../completions/index.ts'
import type { ChatFormat } from '../format.ts'
import { keepItems } from './keep-answer.ts'
import { readRequest } from './read-request.ts'
import { enrichInput } from './request.ts'
import { noteIncomplete, noteStatus, readResponsesUsage } from './response.ts'
import { writeAnswer, writeStream } from './response-writer.ts'
import { ResponsesStream } from './stream.ts'
import { readAnswerTexts, readEventTexts, readRequestTexts } from './texts.ts'

/** The responses API that OpenAI made. Providers that have it are those of its own vendor: they get what clients send. */
export const RESPONSES: ChatFormat = {
  operation: 'chat',
  dialect: 'responses',
  client: { readRequest, writeAnswer, writeStream, keepsStream: true },
  vendor: OPENAI,
  promptMembers: ['instructions', 'input'],
  readRequestTexts,
  enrich: enrichInput,
  thoughtsIn: 'input',
  formatError,
  answer: generatedAnswer(
    () => readResponsesUsage,
    { output: { keep: keepItems } },
    { status: noteStatus, 'incomplete_details.reason': noteIncomplete },
  ),
  answerTexts: { list: 'output', whole: readAnswerTexts, event: readEventTexts },
  stream: () => new ResponsesStream(),
}
