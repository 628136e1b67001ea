import { formatError } from '../completions/errors.ts'
import { encode } from '../json/splice.ts'
import { writeJson } from '../json/write-json.ts'
import type { AnswerSink } from '../translation/answer-sink.ts'
import type { AnswerContext } from '../translation/dialect.ts'
import { SequentialAnswer } from '../translation/sequential-answer.ts'
import { ResponseWriter } from './response-writer.ts'

/** Writes a response. */
export function writeAnswer(context: AnswerContext, done: (body: Uint8Array) => void): AnswerSink {
  const writer = new ResponseWriter(context, undefined, (response, error) =>
    done(error === undefined ? writeJson(response) : encode(formatError(error))),
  )
  return new SequentialAnswer(writer, context.room)
}
