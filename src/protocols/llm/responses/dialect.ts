import type { ClientDialect } from '../translation/dialect.ts'
import { readRequest } from './read-request.ts'
import { writeAnswer } from './write-answer.ts'
import { writeStream } from './write-stream.ts'

/** The responses API that OpenAI made. Providers that have it are those of its own vendor: they get what clients send. */
export const RESPONSES = {
  readRequest,
  writeAnswer,
  writeStream,
  keepsStream: true,
} as const satisfies ClientDialect
