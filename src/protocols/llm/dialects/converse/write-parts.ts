import { parseJson } from '#base/parse-json.ts'
import { isEmpty } from '../../chat/arranged-turns.ts'
import type { AudioPart, FilePart, ImagePart, MediaSource, Part, ResultPart } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { inputObject } from '../../chat/offered-tools.ts'
import type { TargetNames } from '../../chat/target-names.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { asIs, decodeJson, JsonPieces, type JsonText } from '../../json/write-json.ts'
import type { ModelFacts } from '../../models/models.ts'
import type { ContentBlock, ResultBlock } from './wire.ts'

type Media<Name extends string> = Extract<ContentBlock, { [name in Name]: object }>[Name & keyof ContentBlock]
type ImageBlock = NonNullable<Media<'image'>>
type DocumentBlock = NonNullable<Media<'document'>>
type AudioBlock = NonNullable<Media<'audio'>>

const IMAGE_FORMATS: Readonly<Record<string, ImageBlock['format']>> = {
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
}

const AUDIO_FORMATS: Readonly<Record<string, AudioBlock['format']>> = {
  mp3: 'mp3',
  wav: 'wav',
  flac: 'flac',
  opus: 'opus',
  aac: 'aac',
  ogg: 'ogg',
  m4a: 'm4a',
  webm: 'webm',
}

const encoder = new TextEncoder()

/** Writes the parts of the turns of one request. */
export class PartsWriter {
  readonly #names: TargetNames
  readonly #loops: Loops
  readonly #losses: Losses
  #documents: DocumentNames | undefined
  /** Whether the model takes it that the result of a call is an error. */
  readonly #takesStatus: boolean

  constructor({ family }: ModelFacts, names: TargetNames, loops: Loops, losses: Losses) {
    this.#names = names
    this.#loops = loops
    this.#losses = losses
    this.#takesStatus = family === 'claude' || family === 'nova' || family === 'other'
  }

  write(part: Part, role: 'user' | 'assistant'): ContentBlock {
    switch (part.kind) {
      case 'text':
        return { text: asIs<string>(part.text) }
      case 'call': {
        const [toolUseId, name] = [this.#names.callId(part.id), this.#names.name(part.name)]
        return { toolUse: { toolUseId, name, input: inputObject(part.input) } }
      }
      case 'result':
        return this.#result(part)
      case 'thinking': {
        const [text, signature] = [asIs<string>(part.text), asIs<string>(part.signature as JsonText)]
        return { reasoningContent: { reasoningText: { text, signature } } }
      }
      case 'redacted':
        return { reasoningContent: { redactedContent: asIs<string>(part.data) } }
      default:
        if (role !== 'user')
          throw new Untranslatable(part.origin, 'the provider of this request accepts it only from users')
        if (part.kind === 'image') return { image: writeImage(part) }
        return part.kind === 'file' ? { document: this.#document(part) } : { audio: writeAudio(part) }
    }
  }

  #result({ callId, parts, isError, origin }: ResultPart): ContentBlock {
    if (isError && !this.#takesStatus) this.#losses.drop(origin, 'the model has no error flag for tool results')
    const content: ResultBlock[] = []
    this.#loops.each(parts, (part) => {
      if (!isEmpty(part)) content.push(this.#resultContent(part))
    })
    const status = isError ? 'error' : 'success'
    return { toolResult: { toolUseId: this.#names.resultId(callId), content, ...(this.#takesStatus && { status }) } }
  }

  #resultContent(part: Part): ResultBlock {
    switch (part.kind) {
      case 'text':
        return { text: asIs<string>(part.text) }
      case 'image':
        return { image: writeImage(part) }
      case 'file':
        return { document: this.#document(part) }
      default:
        throw new Untranslatable(part.origin, 'is not allowed here')
    }
  }

  #document({ source, name, origin }: FilePart): DocumentBlock {
    const format = documentFormat(source, name)
    if (format === undefined) {
      const formats = 'pdf, csv, doc, docx, xls, xlsx, html, txt and md'
      throw new Untranslatable(origin, `the provider of this request accepts only files of the types ${formats}`)
    }
    this.#documents ??= new DocumentNames()
    return { format, name: this.#documents.name(name), source: { bytes: bytesOf(source, origin) } }
  }
}

function writeImage({ source, origin }: ImagePart): ImageBlock {
  const bytes = bytesOf(source, origin)
  const format = source.kind === 'data' ? IMAGE_FORMATS[source.mediaType.toLowerCase()] : undefined
  if (format === undefined) {
    throw new Untranslatable(
      origin,
      'the provider of this request accepts only images of the types jpeg, png, gif and webp',
    )
  }
  return { format, source: { bytes } }
}

function writeAudio({ data, format, origin }: AudioPart): AudioBlock {
  const known = Object.hasOwn(AUDIO_FORMATS, format) ? AUDIO_FORMATS[format] : undefined
  if (known === undefined)
    throw new Untranslatable(origin, `the provider of this request does not accept audio of type ${format}`)
  return { format: known, source: { bytes: quoted(data) } }
}

/**
 * Base64. URLs are refused: the gateway does not fetch them, and those of the vendor's storage would be read with the credential of the
 * gateway, not with that of the client.
 */
function bytesOf(source: MediaSource, origin: JsonValue): string {
  switch (source.kind) {
    case 'data':
      return quoted(source.data)
    case 'text':
      return encoder.encode(parseJson(decodeJson(source.text)) as string).toBase64()
    case 'url':
      throw new Untranslatable(origin, 'the provider of this request does not accept URLs; send the data itself')
    case 'id':
      throw new Untranslatable(origin, 'the file was not uploaded to the provider of this request')
  }
}

function quoted(data: Uint8Array): string {
  return asIs<string>(new JsonPieces(['"', data, '"']))
}

export type DocumentFormat = 'pdf' | 'csv' | 'doc' | 'docx' | 'xls' | 'xlsx' | 'html' | 'txt' | 'md'

const FORMATS: Readonly<Record<string, DocumentFormat>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/plain': 'txt',
  'text/markdown': 'md',
}

const ENDINGS: Readonly<Record<string, DocumentFormat>> = {
  ...Object.fromEntries(Object.values(FORMATS).map((format) => [format, format])),
  htm: 'html',
  markdown: 'md',
  text: 'txt',
}

/** The format by media type, else by the ending of the name. */
export function documentFormat(source: MediaSource, name: string | undefined): DocumentFormat | undefined {
  if (source.kind === 'data') {
    const mediaType = source.mediaType.split(';', 1)[0]!.trim().toLowerCase()
    if (Object.hasOwn(FORMATS, mediaType)) return FORMATS[mediaType]
  }
  const ending = /\.([a-z]+)$/.exec(name?.toLowerCase() ?? '')?.[1] ?? ''
  if (Object.hasOwn(ENDINGS, ending)) return ENDINGS[ending]
  return source.kind === 'text' ? 'txt' : undefined
}

/** What the API accepts in the name of a document. */
const REFUSED_CHARACTERS = /[^A-Za-z0-9()[\]-]+/g
const MAX_NAME_LENGTH = 200

/** The names of the documents of one request: without characters that the API refuses, and each one different. */
export class DocumentNames {
  /** The next number for a name that is taken. */
  readonly #numbers = new Map<string, number>()

  name(given: string | undefined): string {
    const bare = (given ?? '').replace(REFUSED_CHARACTERS, ' ').trim().slice(0, MAX_NAME_LENGTH).trim()
    const base = bare === '' ? 'document' : bare
    let name = base
    let number = this.#numbers.get(base) ?? 1
    while (this.#numbers.has(name)) {
      number++
      const ending = ` [${number}]`
      name = base.slice(0, MAX_NAME_LENGTH - ending.length).trim() + ending
    }
    this.#numbers.set(base, number)
    if (name !== base) this.#numbers.set(name, 1)
    return name
  }
}
