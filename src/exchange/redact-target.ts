import { isCredentialParameter, mayNameCredential, REDACTED } from '#base/credential-names.ts'

/**
 * Replaces the values of query parameters that carry credentials; everything else stays as it was written.
 * @param names of parameters that do so besides those that do by convention
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

/** Form decoding; a broken escape names nothing that we know. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
