/** Replaces the values of query parameters; everything else stays as it was written. */
export function redactTarget(target: string, names: readonly string[]): string {
  const mark = target.indexOf('?')
  if (mark < 0) return target
  const parameters = target.slice(mark + 1).split('&')
  return `${target.slice(0, mark)}?${parameters.map((parameter) => redactParameter(parameter, names)).join('&')}`
}

function redactParameter(parameter: string, names: readonly string[]): string {
  const equals = parameter.indexOf('=')
  if (equals < 0) return parameter
  const name = decode(parameter.slice(0, equals))
  return names.includes(name) ? `${parameter.slice(0, equals)}=<redacted>` : parameter
}

/** Form decoding; a broken escape names nothing that we know. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
