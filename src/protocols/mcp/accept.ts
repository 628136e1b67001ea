/**
 * Whether an `Accept` field (RFC 9110, 12.5.1) admits a media type; a missing field admits all (decision B67).
 *
 * @param mediaType lower case, without parameters
 */
export function accepts(accept: string | undefined, mediaType: string): boolean {
  if (accept === undefined) return true
  const wholeType = `${mediaType.slice(0, mediaType.indexOf('/'))}/*`
  return accept.split(',').some((part) => {
    const [range = '', ...parameters] = part.split(';')
    if (parameters.some(isZeroWeight)) return false
    const wanted = range.trim().toLowerCase()
    return wanted === mediaType || wanted === wholeType || wanted === '*/*'
  })
}

function isZeroWeight(parameter: string): boolean {
  return /^\s*q\s*=\s*0(\.0*)?\s*$/i.test(parameter)
}

/** The media type of a `Content-Type` value, lower case and without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase()
}
