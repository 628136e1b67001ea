import { REJECTIONS } from '#base/rejections.ts'
import type { WireRefusal } from '../stream.ts'
import { Head } from './head.ts'
import {
  EXPECTATION_FAILED,
  HEADERS_TOO_LARGE,
  HOST_INVALID,
  METHOD_NOT_IMPLEMENTED,
  URI_TOO_LONG,
  VERSION_NOT_SUPPORTED,
} from './parse-head.ts'

/** The refusal for a negative outcome of `parse-head.ts`. */
export function refusalOf(outcome: number): WireRefusal {
  switch (outcome) {
    case HOST_INVALID:
      return 'host-invalid'
    case URI_TOO_LONG:
      return 'uri-too-long'
    case HEADERS_TOO_LARGE:
      return 'headers-too-large'
    case EXPECTATION_FAILED:
      return 'expectation-failed'
    case VERSION_NOT_SUPPORTED:
      return 'version-not-supported'
    case METHOD_NOT_IMPLEMENTED:
      return 'method-not-implemented'
    default:
      return 'malformed-request'
  }
}

/** A whole response that refuses and announces the end of the connection. */
export function refusalText(code: WireRefusal): string {
  const { status, text } = REJECTIONS[code]
  const head = Head.response(status)
  head.set('content-type', 'text/plain')
  return head.writeResponse(1, text.length, 'connection: close\r\n') + text
}
