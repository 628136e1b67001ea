import type { ProviderDialect } from '../../chat/dialect.ts'
import { answerFormat, generatedAnswer, type ReadFact } from '../../facts/answer-format.ts'
import { noteFinish } from '../../facts/finish-reasons.ts'
import { type ChatFormat, type Format, TELEMETRY, type VendorFields } from '../format.ts'
import { formatError } from './errors.ts'
import { keepBlocks } from './keep-answer.ts'
import { readAnswer } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { readStream } from './read-stream.ts'
import { enrichConversation } from './request.ts'
import { MessagesUsage } from './response.ts'
import { MessagesStream } from './stream.ts'
import { readAnswerTexts, readEventTexts, readRequestTexts } from './texts.ts'
import { readTokenCount } from './token-count.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { writeStream } from './write-stream.ts'

/** What Anthropic's clients send. */
const ANTHROPIC: VendorFields = {
  prefixes: ['anthropic-', 'x-claude-code-', TELEMETRY],
  names: ['x-app'],
  keys: ['x-api-key'],
}

/** What a conversation and the count of its tokens have in common. */
const CONVERSATION = {
  vendor: ANTHROPIC,
  promptMembers: ['system', 'messages'],
  readRequestTexts,
  enrich: enrichConversation,
  thoughtsIn: 'messages',
  formatError,
} as const

/** The messages API that Anthropic made. */
export const MESSAGES: ChatFormat = {
  ...CONVERSATION,
  operation: 'chat',
  dialect: 'messages',
  client: { readRequest, writeAnswer, writeStream, keepsStream: false },
  answer: generatedAnswer(usageReader, { content: { keep: keepBlocks } }, { stop_reason: noteFinish }),
  answerTexts: { list: 'content', whole: readAnswerTexts, event: readEventTexts },
  stream: () => new MessagesStream(),
}

/** The call of this API that counts the tokens of a conversation. */
export const TOKEN_COUNT: Format = {
  ...CONVERSATION,
  dialect: 'count',
  answer: answerFormat(['input_tokens'], {}, () => readTokenCount),
}

export const MESSAGES_PROVIDER: ProviderDialect = { writeRequest, readAnswer, readStream }

function usageReader(): ReadFact {
  const usage = new MessagesUsage()
  return (value, facts) => usage.read(value, facts)
}
