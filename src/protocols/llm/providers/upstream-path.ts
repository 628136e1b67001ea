/**
 * The request target for the provider: `path`, with the query of the request after its own. Parameters in `path` are removed from that query
 * (decision B13), so that a client cannot change `api-version`: in any letter case, which some providers ignore.
 * @param target of the request, with what policies have added
 * @param foreign target with the parameters of a client that speaks another API, which the provider does not get
 */
export function upstreamPath(path: string, target: string, foreign = ''): string {
  const own = queryOf(path)
  const names = new Set(own.map(parameterName))
  const dropped = new Set(queryOf(foreign))
  const rest = queryOf(target).filter((each) => !dropped.has(each) && !names.has(parameterName(each)))
  return rest.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${rest.join('&')}`
}

function queryOf(target: string): readonly string[] {
  const question = target.indexOf('?')
  return question < 0 || question === target.length - 1 ? [] : target.slice(question + 1).split('&')
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
