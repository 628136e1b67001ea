const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()

/** A text file that a body contains as data. */
export interface FileData {
  readonly text: string
  /** The file is not entirely UTF-8, so that it cannot be written again with another text. */
  readonly isDamaged: boolean
  /** The data of the file with another text. */
  write(text: string): string
}

/** Media types of text besides `text/...`: JSON, XML and languages. */
const TEXTUAL =
  /^text\/|[/+](?:json|jsonl|x-ndjson|json-seq|xml|yaml|x-yaml|toml|csv|javascript|x-javascript|typescript|sql|x-sh|x-httpd-php|rtf)$/

/** Control characters that no text has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what tells files from texts
const BINARY = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

function isTextual(mediaType: string): boolean {
  return TEXTUAL.test(mediaType.split(';', 1)[0]!.trim().toLowerCase())
}

/**
 * Reads a file that is text.
 * @param data base64, or a data URL (RFC 2397), whose own media type decides
 * @param mediaType undefined: unknown, so it is text if its bytes are
 * @returns undefined: another file; `invalid`: no data
 */
export function readTextFile(data: string, mediaType: string | undefined): FileData | 'invalid' | undefined {
  const url = /^\s*data:([^,]*),/i.exec(data)
  if (url === null) return decodeFile('', data, mediaType)
  const type = url[1]!.split(';', 1)[0]!
  if (/;\s*base64\s*$/i.test(url[1]!))
    return decodeFile(url[0], data.slice(url[0].length), type === '' ? 'text/plain' : type)
  if (type !== '' && !isTextual(type)) return undefined
  try {
    return {
      text: decodeURIComponent(data.slice(url[0].length)),
      isDamaged: false,
      write: (text) => url[0] + encodeURIComponent(text.toWellFormed()),
    }
  } catch {
    return 'invalid'
  }
}

function decodeFile(head: string, data: string, mediaType: string | undefined): FileData | 'invalid' | undefined {
  if (mediaType !== undefined && !isTextual(mediaType)) return undefined
  const bytes = decodeBase64(data)
  if (bytes === undefined) return 'invalid'
  const wide = wideCoding(bytes)
  if (wide !== undefined) {
    const text = new TextDecoder(wide).decode(bytes)
    if (!BINARY.test(text)) return { text, isDamaged: true, write: () => data }
  }
  const write = (text: string) => head + encoder.encode(text.toWellFormed()).toBase64()
  try {
    const text = strict.decode(bytes)
    return mediaType === undefined && BINARY.test(text) ? undefined : { text, isDamaged: false, write }
  } catch {
    return mediaType === undefined ? undefined : { text: lenient.decode(bytes), isDamaged: true, write }
  }
}

/** The coding of a text in UTF-16: by its byte order mark, or by the zeros in the first characters, which no other text has. */
function wideCoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (second === 0 && fourth === 0 && first !== 0) return 'utf-16le'
  return first === 0 && third === 0 && second !== 0 ? 'utf-16be' : undefined
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return undefined
  }
}
