import type { ChatCompletionContentPart, ChatCompletionContentPartText } from 'openai/resources/chat/completions'
import type { FilePart, MediaSource, Part, TextPart } from '../../chat/conversation.ts'
import { endingOf } from '../../chat/data-url.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import { asIs, JsonPieces, type JsonText } from '../../json/write-json.ts'
import type { TurnsTarget } from './target-model.ts'

/** A file must have a name here, and its ending says what it is. */
function fileName(name = 'document', { mediaType }: Data): string {
  const ending = /\.[a-z\d]{1,5}$/i.test(name) ? undefined : endingOf(mediaType)
  return ending === undefined ? name : `${name}.${ending}`
}

/** One text as a string, anything else as a list, which is complete when all loops have run. */
export function writeContent<From extends Part, To>(
  parts: readonly From[],
  to: TurnsTarget,
  write: (part: From, to: TurnsTarget) => To,
): string | To[] {
  const [first] = parts
  if (first === undefined) return ''
  if (parts.length === 1 && first.kind === 'text' && first.cached !== true) return asIs<string>(first.text)
  const written: To[] = []
  to.loops.each(parts, (part) => written.push(write(part, to)))
  return written
}

export function writeText(part: TextPart, to: TurnsTarget): ChatCompletionContentPartText {
  return { type: 'text', text: asIs<string>(part.text), ...markOf(part, to) }
}

/** A part of a turn of the user. */
export function writePart(part: Part, to: TurnsTarget): ChatCompletionContentPart {
  switch (part.kind) {
    case 'text':
      return writeText(part, to)
    case 'image': {
      const url = urlOf(part.source, part)
      // Texts of the client: the API checks them.
      const detail = part.detail as 'auto' | undefined
      return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) }, ...markOf(part, to) }
    }
    case 'audio': {
      const data = asIs<string>(new JsonPieces(['"', part.data, '"']))
      return { type: 'input_audio', input_audio: { data, format: part.format as 'wav' }, ...markOf(part, to) }
    }
    case 'file':
      return writeFile(part, to)
    default:
      throw new Untranslatable(part.origin, 'is not allowed here')
  }
}

function writeFile(part: FilePart, to: TurnsTarget): ChatCompletionContentPart {
  const { source, name } = part
  if (source.kind === 'text') {
    const text = name === undefined ? asIs<string>(source.text) : titled(name, source.text)
    return { type: 'text', text, ...markOf(part, to) }
  }
  if (source.kind !== 'data') {
    throw new Untranslatable(part.origin, 'chat completions accept only files that are in the request')
  }
  return { type: 'file', file: { filename: fileName(name, source), file_data: dataUrl(source) }, ...markOf(part, to) }
}

/** A text with its title before it. */
function titled(title: string, text: JsonText): string {
  const pieces = text instanceof JsonPieces ? text.pieces : [text.subarray(1)]
  const beginning = `${JSON.stringify(title).slice(0, -1)}\\n\\n`
  if (pieces[0] === '"') return asIs<string>(new JsonPieces([beginning, ...pieces.slice(1)]))
  return asIs<string>(new JsonPieces([beginning, ...pieces]))
}

function urlOf(source: MediaSource, part: Part): string {
  if (source.kind === 'url') return asIs<string>(source.url)
  if (source.kind === 'data') return dataUrl(source)
  throw new Untranslatable(part.origin, 'an image that was uploaded to another provider cannot be sent')
}

type Data = Extract<MediaSource, { kind: 'data' }>

function dataUrl({ mediaType, data }: Data): string {
  return asIs<string>(new JsonPieces([`${JSON.stringify(`data:${mediaType}`).slice(0, -1)};base64,`, data, '"']))
}

export function isEmptyText(part: Part): boolean {
  return part.kind === 'text' && part.text instanceof Uint8Array && part.text.length === 2
}

/** Where the prompt is worth caching. */
function markOf(part: Part, { target, losses }: TurnsTarget): { prompt_cache_breakpoint?: { mode: 'explicit' } } {
  if (part.cached !== true) return {}
  if (target.takesCacheMarks) return { prompt_cache_breakpoint: { mode: 'explicit' } }
  losses.drop(part.origin, 'prompt caching is not supported')
  return {}
}
