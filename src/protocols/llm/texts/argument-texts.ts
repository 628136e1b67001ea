import { parseJson } from '#base/parse-json.ts'
import { type JsonValue, parseDocument } from '../json/json-document.ts'

/** A string inside the arguments of a tool call. */
export interface ArgumentText {
  /** Of the JSON string in the UTF-8 bytes of the arguments, quotes included. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** False: the name of a member. */
  readonly canChange: boolean
}

const encoder = new TextEncoder()

/**
 * The strings inside the arguments of a tool call, which are JSON in a string, in order.
 * If an object has a name twice, nobody knows which one a tool reads, so that no string can change.
 * @param text the decoded string
 * @returns undefined if the text is not JSON
 */
export function readArguments(text: string): readonly ArgumentText[] | undefined {
  const document = parseDocument(encoder.encode(text))
  if ('fault' in document) return isJson(text) ? readAll(text) : undefined
  const found: ArgumentText[] = []
  collect(document, found)
  return found
}

function collect(value: JsonValue, found: ArgumentText[]): void {
  switch (value.kind) {
    case 'string':
      found.push({ start: value.place, end: value.end, text: value.text, canChange: true })
      return
    case 'array':
      for (const element of value.elements) collect(element, found)
      return
    case 'object': {
      const { keys } = value
      value.members.forEach(([name, member], index) => {
        found.push({ ...keys[index]!, text: name, canChange: false })
        collect(member, found)
      })
    }
  }
}

/** Whether a text can be read as arguments. */
export function isJson(text: string): boolean {
  try {
    parseJson(text)
    return true
  } catch {
    return false
  }
}

const STRING = /"(?:[^"\\]|\\.)*"/g

/** All strings of a text that is JSON. */
function readAll(text: string): readonly ArgumentText[] {
  let [at, end] = [0, 0]
  return Array.from(text.matchAll(STRING), ({ 0: json, index }) => {
    const start = end + encoder.encode(text.slice(at, index)).length
    end = start + encoder.encode(json).length
    at = index + json.length
    return { start, end, text: parseJson(json) as string, canChange: false }
  })
}
