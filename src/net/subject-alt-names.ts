import { parseJson } from '#base/parse-json.ts'
/** A subject alternative name of a certificate (RFC 5280, 4.2.1.6). */
export interface AltName {
  /** The label that Node uses: `DNS`, `URI`, `IP Address`, `email` and others. */
  readonly type: string
  readonly value: string
}

const ALT_NAME = /([A-Za-z0-9 ]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y

/**
 * Parses names as Node prints them: `DNS:a.test, URI:"with, comma"`; ambiguous values are JSON strings.
 * @returns an empty list if the text has another format
 */
export function readSubjectAltNames(text: string): readonly AltName[] {
  const names: AltName[] = []
  ALT_NAME.lastIndex = 0
  while (ALT_NAME.lastIndex < text.length) {
    const match = ALT_NAME.exec(text)
    if (match === null) return []
    const [, type = '', value = ''] = match
    names.push({ type, value: value.startsWith('"') ? unquoted(value) : value })
  }
  return names
}

function unquoted(text: string): string {
  try {
    return parseJson(text) as string
  } catch {
    return text
  }
}
