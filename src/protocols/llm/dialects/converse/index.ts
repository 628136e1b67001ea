import type { ProviderDialect } from '../../chat/dialect.ts'
import { readAnswer } from './read-answer.ts'
import { readStream } from './read-stream.ts'
import { writeRequest } from './write-request.ts'

/** The Converse API of Amazon Bedrock. */
export const CONVERSE_PROVIDER: ProviderDialect = {
  writeRequest,
  readAnswer,
  readStream,
  idHeader: 'x-amzn-requestid',
}
