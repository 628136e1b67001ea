import type { JsonValue } from '../json/json-document.ts'
import { decodeText } from '../json/native.ts'
import type { MediaSource } from './conversation.ts'
import { Untranslatable } from './untranslatable.ts'

const encoder = new TextEncoder()

/** What a data URL has before its data is not longer. */
const MAX_HEAD = 256
const BACKSLASH = 0x5c
const COMMA = 0x2c

const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+$/
/** Without quotes, backslashes and control characters. */
const SANE = /^[\x20\x21\x23-\x5b\x5d-\uffff]*$/

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  doc: 'application/msword',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
}

/** A data URL, or base64 alone. */
export function readFileData(value: JsonValue, name: string | undefined): MediaSource {
  const found = readDataUrl(value)
  if (found !== undefined) return found
  const ending = name?.slice(name.lastIndexOf('.') + 1).toLowerCase() ?? ''
  const mediaType = Object.hasOwn(MEDIA_TYPES, ending) ? MEDIA_TYPES[ending]! : 'application/pdf'
  return { kind: 'data', mediaType, data: contentOf(value) }
}

/** The ending of names of files of a type; undefined if it is not known. */
export function endingOf(mediaType: string): string | undefined {
  const bare = mediaType.split(';', 1)[0]!.trim().toLowerCase()
  return Object.keys(MEDIA_TYPES).find((ending) => MEDIA_TYPES[ending] === bare)
}

/** The data of a data URL (RFC 2397); undefined if it is another URL. */
export function readDataUrl(value: JsonValue): MediaSource | undefined {
  const bytes = contentOf(value)
  const beginning = decodeText(bytes, 0, Math.min(bytes.length, MAX_HEAD))
  if (!/^data:/i.test(beginning)) return undefined
  const comma = bytes.subarray(0, MAX_HEAD).indexOf(COMMA)
  const [mediaType = '', ...parameters] = beginning.slice('data:'.length, Math.max(comma, 0)).split(';')
  if (comma < 0 || !MEDIA_TYPE.test(mediaType) || parameters.at(-1)?.toLowerCase() !== 'base64') {
    throw new Untranslatable(value, 'must have a media type and base64 data')
  }
  return { kind: 'data', mediaType: mediaType.toLowerCase(), data: bytes.subarray(comma + 1) }
}

/** A string without its quotes. Some serializers escape slashes. */
export function contentOf(value: JsonValue): Uint8Array {
  const content = value.json.subarray(1, -1)
  if (!content.includes(BACKSLASH)) return content
  const { text } = value
  // Writers put it between quotes as it is.
  if (!SANE.test(text)) throw new Untranslatable(value, 'must be base64 or a URL')
  return encoder.encode(text)
}
