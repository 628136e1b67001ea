/** A media type with its parameters, in lower case but for the values: `application/json;as=Table;v=v1`. */
export interface MediaType {
  readonly type: string
  readonly parameters: Readonly<Record<string, string>>
}

/** What a client accepts or sends. Parameters without value, and quotes, are as Kubernetes clients write them: there are none. */
export function readMediaType(text: string): MediaType {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim())
  const parameters: Record<string, string> = {}
  for (const part of rest) {
    const equals = part.indexOf('=')
    if (equals > 0) parameters[part.slice(0, equals).trim().toLowerCase()] = part.slice(equals + 1).trim()
  }
  return { type: type.toLowerCase(), parameters }
}

/** The media types of an `Accept` header, best first (RFC 9110, 12.5.1). */
export function readAccept(header: string | undefined): readonly MediaType[] {
  if (header === undefined || header.trim() === '') return [{ type: '*/*', parameters: {} }]
  return header
    .split(',')
    .map(readMediaType)
    .filter(({ parameters }) => weightOf(parameters) > 0)
    .sort((a, b) => weightOf(b.parameters) - weightOf(a.parameters))
}

function weightOf({ q = '1' }: MediaType['parameters']): number {
  const weight = Number(q)
  return Number.isFinite(weight) ? weight : 1
}
