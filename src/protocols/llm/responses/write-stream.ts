import type { AnswerSink } from '../translation/answer-sink.ts'
import type { AnswerContext } from '../translation/dialect.ts'
import { SequentialAnswer } from '../translation/sequential-answer.ts'
import { ResponseEvents } from './events.ts'
import { ResponseWriter } from './response-writer.ts'

/** Writes the events of a response. In them, items follow each other: what begins before a call is complete is held. */
export function writeStream(context: AnswerContext, write: (events: string) => void): AnswerSink {
  const events = new ResponseEvents(write)
  const writer = new ResponseWriter(context, events, (response) =>
    events.emitResponse(`response.${response.status}`, response),
  )
  return new SequentialAnswer(writer, context.room)
}
