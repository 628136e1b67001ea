/** The parameters of a Bearer challenge, by lower-case name; undefined: the field has none (RFC 9110, 11.6.1). */
export function bearerChallenge(field: string | null): ReadonlyMap<string, string> | undefined {
  const start = /(?:^|,)\s*bearer(?:\s+|$)/i.exec(field ?? '')
  if (start === null) return undefined
  const parameters = new Map<string, string>()
  const rest = field!.slice(start.index + start[0].length)
  // The next scheme ends the challenge: a word that is followed by a space, not by `=`.
  const one = /\s*,?\s*([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/y
  for (let found = one.exec(rest); found !== null; found = one.exec(rest)) {
    parameters.set(found[1]!.toLowerCase(), found[3] ?? found[2]!.replace(/\\(.)/g, '$1'))
  }
  return parameters
}
