import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import type { AnswerSink } from '../../chat/answer-sink.ts'
import { readReportedError } from '../../chat/read-error.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { decodeText } from '../../json/native.ts'
import { elementsOf, memberOf, objectAt, textAt } from '../../json/read-value.ts'
import { MessageBlocks } from './message-blocks.ts'
import { readUsage } from './usage.ts'

/** Reads a chat completion. Only the first choice counts: the gateway asks for one. */
export function* readAnswer(body: JsonValue, sink: AnswerSink): Steps<void> {
  // Everything that is told is a string or a count, so that plain values are enough.
  const answer = parseJson(decodeText(body.json)) as unknown
  const error = memberOf(answer, 'error') ?? undefined
  if (error !== undefined) return sink.fail(readReportedError(answer))
  const [choice] = elementsOf(memberOf(answer, 'choices'))
  if (choice === undefined) throw new Untranslatable(body.get('choices'), 'the response has no choice')
  if (objectAt(choice, 'message') === undefined)
    throw new Untranslatable(body.get('choices'), 'the choice has no message')
  sink.start(textAt(answer, 'id') ?? '', textAt(answer, 'model') ?? '')
  const message = new MessageBlocks(sink)
  yield* message.addAll(memberOf(choice, 'message'))
  message.finish(textAt(choice, 'finish_reason') ?? 'stop')
  const usage = objectAt(answer, 'usage')
  if (usage !== undefined) sink.usage(readUsage(usage, textAt(answer, 'service_tier')))
  sink.end()
}
