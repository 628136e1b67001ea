const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const latin1 = new TextDecoder('latin1')
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
 * Reads a file that is text. The bytes decide, not only what a client says about them: a text of another media type is checked, too, and cannot
 * be changed.
 * @param data base64, or a data URL (RFC 2397), whose own media type decides
 * @param mediaType undefined: unknown
 * @returns undefined: another file; `invalid`: no data
 */
export function readTextFile(data: string, mediaType: string | undefined): FileData | 'invalid' | undefined {
  const url = /^\s*data:([^,]*),/i.exec(data)
  if (url === null) return decodeFile('', data, mediaType)
  const [head, about] = [url[0], url[1]!]
  const given = about.split(';', 1)[0]!
  const type = given === '' ? 'text/plain' : given
  const rest = data.slice(head.length)
  if (/;\s*base64\s*$/i.test(about)) {
    const plain = rest.includes('%') ? decodePercent(rest) : rest
    return plain === undefined ? 'invalid' : decodeFile(head, plain, type)
  }
  const text = decodePercent(rest)
  if (text === undefined) return 'invalid'
  // Some readers take the first comma, others that after the last parameter.
  const other = rest.toLowerCase().lastIndexOf(MARK)
  const file = other < 0 ? undefined : decodeFile(head, rest.slice(other + MARK.length), type)
  if (typeof file === 'object') return readBoth(data, text, file.text)
  return { text, isDamaged: !isTextual(type), write: (masked) => head + encodeURIComponent(masked.toWellFormed()) }
}

const MARK = ';base64,'

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Readers do not agree on the text of a file: both are checked. It is sent as it is. */
function readBoth(data: string, one: string, other: string): FileData {
  return { text: `${one}\n${other}`, isDamaged: true, write: () => data }
}

/** The beginning of most images and sounds tells that they are no text. In signs of base64, whole groups of four. */
const SAMPLE_LENGTH = 4096

function isBinary(sample: Uint8Array | undefined): boolean {
  if (sample === undefined || wideCoding(sample) !== undefined || !BINARY.test(lenient.decode(sample))) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true })
    return false
  } catch {
    return true
  }
}

function decodeFile(head: string, data: string, mediaType: string | undefined): FileData | 'invalid' | undefined {
  const isText = mediaType !== undefined && isTextual(mediaType)
  if (!isText && data.length > 2 * SAMPLE_LENGTH && isBinary(decodeBase64(data.slice(0, SAMPLE_LENGTH))))
    return undefined
  const bytes = decodeBase64(data)
  if (bytes !== undefined) return readBytes(head, data, bytes, mediaType)
  // Some readers skip what is no base64.
  const signs = data.replace(/[^\w+/-]/g, '')
  const text = lenient.decode(decodeBase64(signs.length % 4 === 1 ? signs.slice(0, -1) : signs))
  return hasFewControls(text) && hasFewFaults(text) ? readBoth(data, data, text) : 'invalid'
}

function readBytes(head: string, data: string, bytes: Uint8Array, mediaType: string | undefined): FileData | undefined {
  const isText = mediaType !== undefined && isTextual(mediaType)
  const wide = wideCoding(bytes)
  if (wide !== undefined) {
    // UTF-32 is UTF-16 with zeros.
    const text = new TextDecoder(wide).decode(bytes).replaceAll('\0', '')
    if (isText || hasFewControls(text)) return readBoth(data, text, lenient.decode(bytes))
  }
  const write = (text: string) => head + encoder.encode(text.toWellFormed()).toBase64()
  const text = decodeStrictly(bytes)
  if (text !== undefined) return { text, isDamaged: !isText && (mediaType !== undefined || BINARY.test(text)), write }
  const damaged = lenient.decode(bytes)
  if (!isText && (BINARY.test(damaged) || !hasFewFaults(damaged))) return undefined
  return readBoth(data, damaged, latin1.decode(bytes))
}

function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

function hasFewControls(text: string): boolean {
  return !BINARY.test(text) || text.split(BINARY).length * CHARACTERS_PER_CONTROL <= text.length
}

/** A file with more control characters is no text. */
const CHARACTERS_PER_CONTROL = 8

/** Text in another coding of one byte for a character, or text to which some bytes were added. */
function hasFewFaults(damaged: string): boolean {
  return damaged.split('\ufffd', damaged.length / 4 + 1).length <= damaged.length / 4
}

/** The coding of a text in UTF-16 or UTF-32: by its byte order mark, or by the zeros in the first characters, which no other text has. */
function wideCoding(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second, third, fourth] = bytes
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (second === 0 && fourth === 0 && first !== 0) return 'utf-16le'
  return first === 0 && (third === 0 || second === 0) && bytes.length > 3 ? 'utf-16be' : undefined
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return undefined
  }
}
