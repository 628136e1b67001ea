/**
 * The request target for the provider: `path`, with the client's query after its own. Parameters in `path` are removed from the client's
 * query (decision B13), so that a client cannot change `api-version`: in any letter case, which some providers ignore.
 * @param target request target of the client
 */
export function upstreamPath(path: string, target: string): string {
  const question = target.indexOf('?')
  if (question < 0 || question === target.length - 1) return path
  const query = target.slice(question + 1)
  const own = path.indexOf('?')
  if (own < 0) return `${path}?${query}`
  const names = new Set(
    path
      .slice(own + 1)
      .split('&')
      .map(parameterName),
  )
  const rest = query.split('&').filter((parameter) => !names.has(parameterName(parameter)))
  return rest.length === 0 ? path : `${path}&${rest.join('&')}`
}

function parameterName(parameter: string): string {
  const equals = parameter.indexOf('=')
  const name = equals < 0 ? parameter : parameter.slice(0, equals)
  try {
    return decodeURIComponent(name).toLowerCase()
  } catch {
    return name.toLowerCase()
  }
}

/** A configured path as request target: one leading slash, with all characters percent-encoded that a target must not contain. */
export function toPath(configured: string): string {
  const path = configured.startsWith('/') ? configured : `/${configured}`
  return path.toWellFormed().replace(/[^\x21\x22\x24-\x7e]/gu, encodeURIComponent)
}
