import type { ClientDialect, ProviderDialect } from '../translation/dialect.ts'
import { readAnswer } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { readStream } from './read-stream.ts'
import { writeAnswer } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { writeStream } from './write-stream.ts'

/** The chat completions API that OpenAI made, and most other vendors offer. */
export const COMPLETIONS = {
  readRequest,
  writeRequest,
  readAnswer,
  readStream,
  writeAnswer,
  writeStream,
  keepsStream: false,
} as const satisfies ClientDialect & ProviderDialect
