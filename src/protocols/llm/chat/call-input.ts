import type { JsonValue } from '../json/json-document.ts'
import { isJson } from '../json/read-value.ts'
import { JsonPieces, type JsonText } from '../json/write-json.ts'

const encoder = new TextEncoder()

/**
 * The input of a call.
 * @param value a string with JSON: if it is empty or absent there are no arguments; other text stays a string
 */
export function readArguments(value: JsonValue | undefined): JsonText {
  const text = value?.text ?? ''
  if (value === undefined || text.trim() === '') return encoder.encode('{}')
  return isJson(text) ? encoder.encode(text) : value.json
}

/** The input of a call of a tool that takes a text. @param text a string */
export function textAsInput(text: Uint8Array): JsonText {
  return new JsonPieces(['{"input":', text, '}'])
}
