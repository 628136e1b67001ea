/** What one of the small servers answers. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A line of text; the newline is added. */
export function textAnswer(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n`, headers }
}

/** Without secrets; indented, since it is people who look at it. */
export function jsonAnswer(value: unknown, hide: (text: string) => string): Answer {
  const hideText = (_: string, member: unknown) => (typeof member === 'string' ? hide(member) : member)
  return { status: 200, contentType: 'application/json', body: `${JSON.stringify(value, hideText, 2)}\n` }
}
