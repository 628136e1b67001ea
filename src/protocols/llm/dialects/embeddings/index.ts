import { generatedAnswer } from '../../facts/answer-format.ts'
import { formatError } from '../completions/errors.ts'
import { OPENAI } from '../completions/index.ts'
import { readCompletionsUsage } from '../completions/response.ts'
import type { Format } from '../format.ts'
import { readRequestTexts } from './texts.ts'

/** The embeddings API that OpenAI made. */
export const EMBEDDINGS: Format = {
  operation: 'embeddings',
  dialect: 'embeddings',
  vendor: OPENAI,
  promptMembers: ['input'],
  readRequestTexts,
  formatError,
  answer: generatedAnswer(() => readCompletionsUsage),
}
