import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { readErrorTexts } from '../dialects/error-texts.ts'
import { type ChatType, FORMATS } from '../dialects/index.ts'
import { JsonValue, parseDocument, parseInSteps } from '../json/json-document.ts'
import { decodeText, isUtf8 } from '../json/native.ts'
import { isJson } from '../json/read-value.ts'
import { encode } from '../json/splice.ts'
import type { BodyTexts } from '../texts/body-texts.ts'
import type { ReadBody } from './guard-body.ts'
import { GuardedTexts } from './texts/guarded-texts.ts'

/** Reads a whole answer. @returns the reason as a string if it cannot be read */
export function* readAnswerBody(body: Uint8Array, format: ChatType): Steps<ReadBody | string> {
  const document = yield* parseInSteps(body)
  if (!(document instanceof JsonValue)) return 'it is not JSON'
  yield
  const { list, whole } = FORMATS[format].answerTexts
  const isAnswer = document.get(list)?.kind === 'array' || document.get('error') !== undefined
  return isAnswer ? yield* readTexts(body, whole(document)) : `it is not a response of type ${format}`
}

/** The same for an error, which may be any text: clouds and load balancers in front of a provider answer as well. */
export function* readErrorBody(body: Uint8Array): Steps<ReadBody | string> {
  const unmarked = hasMark(body) ? body.subarray(BYTE_ORDER_MARK.length) : body
  const document = yield* parseInSteps(unmarked)
  if (document instanceof JsonValue) return yield* readTexts(unmarked, readErrorTexts(document))
  // NUL bytes indicate another encoding, such as UTF-16.
  if (!isUtf8(body) || body.includes(0)) return 'it is neither JSON nor text in UTF-8'
  const text = decodeText(body, 0, body.length)
  return isJson(text) ? 'it has a duplicate key' : yield* readPlain(text, body)
}

/** Reads plain text as a JSON string. */
function* readPlain(text: string, body: Uint8Array): Steps<ReadBody> {
  const json = encode(JSON.stringify(text))
  // UTF-8 has no lone surrogates, so that the text can always be read.
  const read = (yield* readTexts(json, readErrorTexts(parseDocument(json) as JsonValue))) as ReadBody
  return { texts: read.texts, write: () => writePlain(read.write(), json, body) }
}

function* writePlain(writing: Steps<Uint8Array>, json: Uint8Array, body: Uint8Array): Steps<Uint8Array> {
  const written = yield* writing
  return written === json ? body : encode(parseJson(decodeText(written, 0, written.length)) as string)
}

function* readTexts(body: Uint8Array, finding: Steps<BodyTexts>): Steps<ReadBody | string> {
  const { runs } = yield* finding
  const texts = yield* GuardedTexts.read(body, { runs: runs.map((run) => ({ ...run, joins: false })) })
  return 'unreadable' in texts ? 'it has a text that cannot be read' : { texts, write: () => texts.apply() }
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

function hasMark(body: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, index) => body[index] === byte)
}
