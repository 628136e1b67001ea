import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { JsonValue, parseDocument, parseInSteps } from '../json/json-document.ts'
import { decodeText, isUtf8 } from '../json/native.ts'
import { encode } from '../json/splice.ts'
import { isJson } from '../texts/argument-texts.ts'
import type { BodyTexts } from '../texts/body-texts.ts'
import { ANSWER_TEXTS, readErrorTexts } from '../texts/dialect-texts.ts'
import type { ReadBody } from './guard-body.ts'
import type { GuardedFormat } from './guarded-format.ts'
import { GuardedTexts } from './texts/guarded-texts.ts'

/** Reads a whole answer. @returns why that is impossible */
export function* readAnswerBody(body: Uint8Array, format: GuardedFormat): Steps<ReadBody | string> {
  const document = yield* parseInSteps(body)
  if (!(document instanceof JsonValue)) return 'it is not JSON'
  yield
  const { list, whole } = ANSWER_TEXTS[format]
  const isAnswer = document.get(list)?.kind === 'array' || document.get('error') !== undefined
  return isAnswer ? yield* readTexts(body, whole(document), format) : `it is no response of type ${format}`
}

/** The same for an error, which may be any text: clouds and load balancers in front of a provider answer as well. */
export function* readErrorBody(body: Uint8Array): Steps<ReadBody | string> {
  const unmarked = hasMark(body) ? body.subarray(BYTE_ORDER_MARK.length) : body
  const document = yield* parseInSteps(unmarked)
  if (document instanceof JsonValue) return yield* readTexts(unmarked, readErrorTexts(document))
  // Zeros are those of another coding, such as UTF-16.
  if (!isUtf8(body) || body.includes(0)) return 'it is neither JSON nor text in UTF-8'
  const text = decodeText(body, 0, body.length)
  return isJson(text) ? 'it has a key twice' : yield* readPlain(text, body)
}

/** The text as the only string of a JSON text. */
function* readPlain(text: string, body: Uint8Array): Steps<ReadBody> {
  const json = encode(JSON.stringify(text))
  // Text in UTF-8 has no half characters, so that it can be read.
  const read = (yield* readTexts(json, readErrorTexts(parseDocument(json) as JsonValue))) as ReadBody
  return { texts: read.texts, write: () => writePlain(read.write(), json, body) }
}

function* writePlain(writing: Steps<Uint8Array>, json: Uint8Array, body: Uint8Array): Steps<Uint8Array> {
  const written = yield* writing
  return written === json ? body : encode(parseJson(decodeText(written, 0, written.length)) as string)
}

function* readTexts(body: Uint8Array, finding: Steps<BodyTexts>, answer?: GuardedFormat): Steps<ReadBody | string> {
  const texts = yield* GuardedTexts.read(body, yield* finding, answer)
  return 'unreadable' in texts ? 'it has a text that cannot be read' : { texts, write: () => texts.apply() }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

function hasMark(body: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, index) => body[index] === byte)
}
