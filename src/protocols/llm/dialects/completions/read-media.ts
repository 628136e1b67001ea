import type { AudioPart, FilePart, ImagePart, MediaSource } from '../../chat/conversation.ts'
import { contentOf, readDataUrl, readFileData } from '../../chat/data-url.ts'
import type { Losses } from '../../chat/losses.ts'
import type { ObjectReader } from '../../chat/object-reader.ts'

export function readImage(part: ObjectReader, losses: Losses): ImagePart {
  const image = part.require('image_url', part.object('image_url'))
  const url = image.require('url', image.takeKind('url', 'string'))
  const detail = image.text('detail')
  image.drop(losses)
  const source = readDataUrl(url) ?? { kind: 'url', url: url.json }
  return { kind: 'image', source, ...(detail !== undefined && { detail }), origin: part.value }
}

export function readAudio(part: ObjectReader, losses: Losses): AudioPart {
  const audio = part.require('input_audio', part.object('input_audio'))
  const data = contentOf(audio.require('data', audio.takeKind('data', 'string')))
  const format = audio.require('format', audio.text('format'))
  audio.drop(losses)
  return { kind: 'audio', data, format, origin: part.value }
}

export function readFile(part: ObjectReader, losses: Losses): FilePart {
  const file = part.require('file', part.object('file'))
  const name = file.text('filename')
  const id = file.literal('file_id')
  const data = file.takeKind('file_data', 'string')
  file.drop(losses)
  const source: MediaSource =
    data === undefined ? { kind: 'id', id: file.require('file_data', id) } : readFileData(data, name)
  return { kind: 'file', source, ...(name !== undefined && { name }), origin: part.value }
}
