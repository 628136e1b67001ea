import { takeCacheMark } from '../../chat/cache-marks.ts'
import type { FilePart, ImagePart, MediaSource, Part, Turn } from '../../chat/conversation.ts'
import { readDataUrl, readFileData } from '../../chat/data-url.ts'
import type { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { expectKind, ObjectReader } from '../../chat/object-reader.ts'
import { Untranslatable } from '../../chat/untranslatable.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { readAudio } from '../completions/read-media.ts'

/** Whose content it is. */
export type Place = Turn['role'] | 'result'

/** Where the types of parts may stand. */
const PLACES: Readonly<Record<string, readonly Place[]>> = {
  input_text: ['system', 'user', 'assistant', 'result'],
  input_image: ['user', 'result'],
  input_file: ['user', 'result'],
  input_audio: ['user'],
  output_text: ['assistant'],
  refusal: ['assistant'],
}

/** @param value a string or a list of parts @returns a list that is complete when all loops have run */
export function readContent(value: JsonValue, place: Place, loops: Loops, losses: Losses): readonly Part[] {
  if (value.kind === 'string') return [{ kind: 'text', text: value.json, origin: value }]
  const parts: Part[] = []
  loops.eachOf(expectKind(value, 'array'), (part) => parts.push(readPart(part, place, losses)))
  return parts
}

function readPart(origin: JsonValue, place: Place, losses: Losses): Part {
  const reader = new ObjectReader(origin)
  const type = reader.require('type', reader.text('type'))
  if (!Object.hasOwn(PLACES, type)) {
    throw new Untranslatable(origin, `content of type ${type} cannot be translated`)
  }
  if (!PLACES[type]!.includes(place)) throw new Untranslatable(origin, `content of type ${type} is not allowed here`)
  const cached = takeCacheMark(reader, losses)
  const part = readTyped(type, reader, losses)
  reader.drop(losses)
  return cached === undefined ? part : { ...part, cached }
}

function readTyped(type: string, reader: ObjectReader, losses: Losses): Part {
  const origin = reader.value
  switch (type) {
    case 'input_image':
      return readImage(reader)
    case 'input_file':
      return readFile(reader)
    case 'input_audio':
      return readAudio(reader, losses)
    case 'refusal':
      return { kind: 'text', text: reader.require('refusal', reader.literal('refusal')), isRefusal: true, origin }
    default:
      // What a response has beside its texts, and no provider needs again.
      reader.take('annotations')
      reader.take('logprobs')
      return { kind: 'text', text: reader.require('text', reader.literal('text')), origin }
  }
}

function readImage(reader: ObjectReader): ImagePart {
  const detail = reader.text('detail')
  const url = reader.takeKind('image_url', 'string')
  const id = reader.literal('file_id')
  const source = url === undefined ? uploaded(reader.require('image_url', id)) : sourceOf(url)
  return { kind: 'image', source, ...(detail !== undefined && { detail }), origin: reader.value }
}

function readFile(reader: ObjectReader): FilePart {
  const name = reader.text('filename')
  const data = reader.takeKind('file_data', 'string')
  const url = reader.takeKind('file_url', 'string')
  const id = reader.literal('file_id')
  // How closely the model looks at pages; this is what happens anyway.
  if (reader.value.get('detail')?.text === 'auto') reader.take('detail')
  const named = name === undefined ? {} : { name }
  return { kind: 'file', source: fileSource(reader, data, url, id, name), ...named, origin: reader.value }
}

function fileSource(
  reader: ObjectReader,
  data: JsonValue | undefined,
  url: JsonValue | undefined,
  id: Uint8Array | undefined,
  name: string | undefined,
): MediaSource {
  if (data !== undefined) return readFileData(data, name)
  return url === undefined ? uploaded(reader.require('file_data', id)) : sourceOf(url)
}

function sourceOf(url: JsonValue): MediaSource {
  return readDataUrl(url) ?? { kind: 'url', url: url.json }
}

function uploaded(id: Uint8Array): MediaSource {
  return { kind: 'id', id }
}
