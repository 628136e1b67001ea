import { isCredentialParameter, mayNameCredential, REDACTED } from '#base/credential-names.ts'

/**
 * Redacts the values of query parameters that carry credentials; the rest is unchanged.
 * @param names of such parameters in addition to the conventional ones
 */
export function redactTarget(target: string, names: readonly string[]): string {
  const mark = target.indexOf('?')
  if (mark < 0 || (names.length === 0 && !mayNameCredential(target.slice(mark)))) return target
  const parameters = target.slice(mark + 1).split('&')
  return `${target.slice(0, mark)}?${parameters.map((parameter) => redactParameter(parameter, names)).join('&')}`
}

function redactParameter(parameter: string, names: readonly string[]): string {
  const equals = parameter.indexOf('=')
  if (equals < 0) return parameter
  const name = decode(parameter.slice(0, equals))
  return names.includes(name) || isCredentialParameter(name) ? `${parameter.slice(0, equals)}=${REDACTED}` : parameter
}

/** Form decoding. A name with a malformed escape matches no known name. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
