import { REJECTIONS } from '#base/rejections.ts'
import { Head } from '../http/head.ts'
import type { ResponseField, WireRefusal } from '../stream.ts'

/** A complete refusal response with `connection: close`. */
export function refusalText(code: WireRefusal, field: ResponseField | undefined): string {
  const { status, text } = REJECTIONS[code]
  const head = Head.response(status)
  head.set('content-type', 'text/plain')
  if (field !== undefined) head.set(...field)
  return head.writeResponse(1, text.length, 'connection: close\r\n') + text
}
