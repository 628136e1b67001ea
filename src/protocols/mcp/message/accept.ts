import { trimSpace } from '#base/byte-text.ts'

/** What the SDKs send. It admits all types that the gateway asks about. */
const USUAL_ACCEPT = 'application/json, text/event-stream'

/**
 * Whether an `Accept` field (RFC 9110, 12.5.1) admits a media type; a missing field admits all.
 *
 * @param mediaType lower case, without parameters
 */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined || accept === USUAL_ACCEPT) return true
  const wholeType = `${mediaType.slice(0, mediaType.indexOf('/'))}/*`
  return accept.split(',').some((part) => {
    const [range = '', ...parameters] = part.split(';')
    if (parameters.some(isZeroWeight)) return false
    const wanted = trimSpace(range).toLowerCase()
    return wanted === mediaType || wanted === wholeType || wanted === '*/*'
  })
}

function isZeroWeight(parameter: string): boolean {
  return /^[ \t]*q[ \t]*=[ \t]*0(\.0*)?[ \t]*$/i.test(parameter)
}

/** The media type of a `Content-Type` value, lower case and without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  if (contentType === 'application/json' || contentType === 'text/event-stream') return contentType
  return trimSpace((contentType ?? '').split(';', 1)[0]!).toLowerCase()
}
