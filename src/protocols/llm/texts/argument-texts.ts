import type { Pace, Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { type JsonChildren, type JsonValue, parseInSteps } from '../json/json-document.ts'

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

/** The work for a string besides that for its characters. */
const WORK_PER_STRING = 128

/**
 * The strings inside the arguments of a tool call, which are JSON in a string, in order. Yields between strings.
 * If an object has a name twice, nobody knows which one a tool reads, so that no string can change.
 * @param text the decoded string
 * @returns undefined if the text is no JSON, or a number or a literal
 */
export function* readArguments(text: string, pace: Pace): Steps<readonly ArgumentText[] | undefined> {
  if (!beginsArguments(text)) return undefined
  const document = yield* parseInSteps(encoder.encode(text))
  yield
  if ('fault' in document) return isJson(text) ? yield* readAll(text, pace) : undefined
  const found: ArgumentText[] = []
  const open: JsonChildren[] = []
  const visit = (value: JsonValue) => {
    const { kind } = value
    if (kind === 'string') found.push({ start: value.place, end: value.end, text: value.text, canChange: true })
    else if (kind === 'array' || kind === 'object') open.push(value.children())
  }
  visit(document)
  for (let children = open.at(-1); children !== undefined; children = open.at(-1)) {
    const value = children.next()
    if (value === undefined) {
      open.pop()
      continue
    }
    if (children.isObject) {
      const text = children.hasLongName ? yield* children.longName() : children.name
      found.push({ ...children.key, text, canChange: false })
    }
    visit(value)
    if (pace.after(WORK_PER_STRING + value.end - value.place)) yield
  }
  return found
}

/** Arguments are an object, a list or a string. A number may be what somebody wrote to a tool that takes text. */
export function beginsArguments(text: string): boolean {
  return /^[ \t\r\n]*[{["]/.test(text)
}

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
function* readAll(text: string, pace: Pace): Steps<readonly ArgumentText[]> {
  const found: ArgumentText[] = []
  let [at, end] = [0, 0]
  for (const { 0: json, index } of text.matchAll(STRING)) {
    const start = end + encoder.encode(text.slice(at, index)).length
    end = start + encoder.encode(json).length
    at = index + json.length
    found.push({ start, end, text: parseJson(json) as string, canChange: false })
    if (pace.after(WORK_PER_STRING + json.length)) yield
  }
  return found
}
