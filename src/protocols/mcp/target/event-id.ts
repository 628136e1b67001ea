import { toByteText } from '#base/byte-text.ts'
import { isFieldValue } from '#net/http/field-syntax.ts'
import { TargetStreamError } from './target-stream-error.ts'

/** In bytes. The gateway keeps the last one of each target, and clients return it in a header field. */
const MAX_EVENT_ID_BYTES = 4096

/**
 * The id of an event of a target, as byte text: the form in which `Last-Event-ID` has it (WHATWG HTML, 9.2.4).
 * @throws TargetStreamError if no client could return it
 */
export function readEventId(id: string): string {
  const byteText = toByteText(id)
  if (byteText.length > MAX_EVENT_ID_BYTES) {
    const limit = `the limit is ${MAX_EVENT_ID_BYTES} bytes, which no field sets`
    throw new TargetStreamError('the target sent an event id that is too long', limit)
  }
  if (!isFieldValue(byteText)) throw new TargetStreamError('the target sent an event id with control characters')
  return byteText
}
