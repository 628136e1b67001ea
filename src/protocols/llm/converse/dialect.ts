import type { ProviderDialect } from '../translation/dialect.ts'
import { readAnswer } from './read-answer.ts'
import { readStream } from './read-stream.ts'
import { writeRequest } from './write-request.ts'

/** The Converse API of Amazon Bedrock. */
export const CONVERSE: ProviderDialect = { writeRequest, readAnswer, readStream, idHeader: 'x-amzn-requestid' }
