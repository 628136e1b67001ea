import { REJECTIONS } from '#base/rejections.ts'
import { Head } from '../http/head.ts'
import type { WireRefusal } from '../stream.ts'

/** A whole response that refuses and announces the end of the connection. */
export function refusalText(code: WireRefusal): string {
  const { status, text } = REJECTIONS[code]
  const head = Head.response(status)
  head.set('content-type', 'text/plain')
  return head.writeResponse(1, text.length, 'connection: close\r\n') + text
}
