import type {
  Base64ImageSource,
  CacheControlEphemeral,
  DocumentBlockParam,
  ImageBlockParam,
  TextBlockParam,
  ToolResultBlockParam,
  ToolUseBlockParam,
} from '@anthropic-ai/sdk/resources/messages/messages'
import { isEmpty } from '../../chat/arranged-turns.ts'
import type { CallPart, FilePart, ImagePart, Part, ResultPart, TextPart } from '../../chat/conversation.ts'
import type { Loops } from '../../chat/loops.ts'
import { inputObject } from '../../chat/offered-tools.ts'
import type { TargetNames } from '../../chat/target-names.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { asIs, JsonPieces } from '../../json/write-json.ts'

type ImageType = Base64ImageSource['media_type']

const IMAGE_TYPES: Readonly<Record<string, ImageType>> = {
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
}

const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml)(?:;|$))/
const CACHED: CacheControlEphemeral = { type: 'ephemeral' }

export function markOf({ cached }: { readonly cached?: boolean | undefined }): {
  cache_control?: CacheControlEphemeral
} {
  return cached === true ? { cache_control: CACHED } : {}
}

export function writeText(part: TextPart): TextBlockParam {
  return { type: 'text', text: asIs<string>(part.text), ...markOf(part) }
}

export function writeCall(part: CallPart, names: TargetNames): ToolUseBlockParam {
  return {
    type: 'tool_use',
    id: names.callId(part.id),
    name: names.name(part.name),
    input: inputObject(part.input),
    ...markOf(part),
  }
}

export function writeResult(part: ResultPart, names: TargetNames, loops: Loops): ToolResultBlockParam {
  const result: ToolResultBlockParam = {
    type: 'tool_result',
    tool_use_id: names.resultId(part.callId),
    ...(part.isError && { is_error: true }),
    ...markOf(part),
  }
  const content: Exclude<ToolResultBlockParam['content'], string | undefined> = []
  loops.each(part.parts, (each) => {
    if (!isEmpty(each)) content.push(writeContent(each))
  })
  loops.after(() => {
    if (content.length > 0) result.content = content
  })
  return result
}

/** What turns of the user and results of tools can have. */
export function writeContent(part: Part): TextBlockParam | ImageBlockParam | DocumentBlockParam {
  switch (part.kind) {
    case 'text':
      return writeText(part)
    case 'image':
      return { type: 'image', source: imageSource(part), ...markOf(part) }
    case 'file':
      return writeFile(part)
    case 'audio':
      throw new Untranslatable(part.origin, 'the provider of this request does not accept audio')
    default:
      throw new Untranslatable(part.origin, 'is not allowed here')
  }
}

function imageSource({ source, origin }: ImagePart): ImageBlockParam['source'] {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: asIs<string>(source.url) }
    case 'data': {
      const mediaType = IMAGE_TYPES[source.mediaType.toLowerCase()]
      if (mediaType === undefined) {
        throw new Untranslatable(
          origin,
          'the provider of this request accepts only images of the types jpeg, png, gif and webp',
        )
      }
      return { type: 'base64', media_type: mediaType, data: quoted(source.data) }
    }
    case 'id':
      throw notUploaded(origin)
    case 'text':
      throw new Untranslatable(origin, 'text is not an image')
  }
}

function writeFile(part: FilePart): DocumentBlockParam {
  const title = part.name === undefined ? {} : { title: part.name }
  return { type: 'document', source: fileSource(part), ...title, ...markOf(part) }
}

function fileSource({ source, origin }: FilePart): DocumentBlockParam['source'] {
  switch (source.kind) {
    case 'url':
      return { type: 'url', url: asIs<string>(source.url) }
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: asIs<string>(source.text) }
    case 'data': {
      const mediaType = source.mediaType.toLowerCase()
      if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: quoted(source.data) }
      if (!TEXT_TYPE.test(mediaType)) {
        throw new Untranslatable(origin, 'the provider of this request accepts only files that are PDF or text')
      }
      return { type: 'text', media_type: 'text/plain', data: textIn(source.data, origin) }
    }
    case 'id':
      throw notUploaded(origin)
  }
}

function notUploaded(origin: FilePart['origin']): Untranslatable {
  return new Untranslatable(origin, 'the file was not uploaded to the provider of this request')
}

function quoted(data: Uint8Array): string {
  return asIs<string>(new JsonPieces(['"', data, '"']))
}

const latin1 = new TextDecoder('latin1')
const utf8 = new TextDecoder()

/** The text that base64 data stands for. The data may have escaped slashes. */
function textIn(data: Uint8Array, origin: FilePart['origin']): string {
  try {
    const binary = atob(latin1.decode(data).replaceAll('\\', ''))
    return utf8.decode(Uint8Array.from(binary, (unit) => unit.charCodeAt(0)))
  } catch {
    throw new Untranslatable(origin, 'not base64')
  }
}
