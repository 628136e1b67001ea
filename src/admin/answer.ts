import { parseJson } from '#base/parse-json.ts'
/** A response of a server for operators. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A response that lasts. */
export interface StreamedAnswer {
  readonly contentType: string
  /** Begins to write. @returns called when the client has disconnected or the server closes */
  stream(client: StreamClient): () => void
}

export interface StreamClient {
  /** Bytes that the client has not taken yet. */
  readonly unsentBytes: number
  write(text: string): void
  /** Calls `run` whenever the client has taken all that waited for it. */
  onTaken(run: () => void): void
}

/** A response with one line of text; the newline is added. */
export function textAnswer(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${text}\n`, headers }
}

/** A JSON response without secrets, indented for readability. */
export function jsonAnswer(value: unknown, hide: (text: string) => string): Answer {
  return { status: 200, contentType: 'application/json', body: `${JSON.stringify(value, hideTexts(hide), 2)}\n` }
}

/** A copy of a JSON value without secrets in its texts. */
export function withoutSecretTexts<T>(value: T, hide: (text: string) => string): T {
  return parseJson(JSON.stringify(value, hideTexts(hide))) as T
}

/** For `JSON.stringify`: texts without secrets. */
export function hideTexts(hide: (text: string) => string) {
  return (_: string, member: unknown) => (typeof member === 'string' ? hide(member) : member)
}
