import type { Pace, Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { type JsonChildren, type JsonValue, parseInSteps } from '../json/json-document.ts'

/** Positions between two allocations. */
const PLACES_LENGTH = 4096

/**
 * Where the strings inside the arguments of a tool call are in their UTF-8 bytes, quotes included. There may be hundreds of thousands, so that
 * each of them has no object, and no list of them is copied.
 */
export class ArgumentPlaces {
  readonly #parts: Int32Array[] = []
  #length = 0

  get length(): number {
    return this.#length / 2
  }

  add(start: number, end: number): void {
    const at = this.#length % PLACES_LENGTH
    if (at === 0) this.#parts.push(new Int32Array(PLACES_LENGTH))
    const part = this.#parts.at(-1)!
    part[at] = start
    part[at + 1] = end
    this.#length += 2
  }

  startOf(index: number): number {
    return this.#at(2 * index)
  }

  endOf(index: number): number {
    return this.#at(2 * index + 1)
  }

  #at(position: number): number {
    return this.#parts[Math.floor(position / PLACES_LENGTH)]![position % PLACES_LENGTH]!
  }
}

/** Receives the text of each string, in order. @param canChange false: the name of a member */
export type ReceiveArgument = (text: string, canChange: boolean) => void

const encoder = new TextEncoder()

/** The work for a string besides that for its characters. */
const WORK_PER_STRING = 256

/**
 * The strings inside the arguments of a tool call, which are JSON in a string, in order. Yields between strings.
 * If an object has a name twice, nobody knows which one a tool reads, so that no string can change.
 * @param text the decoded string
 * @returns where they are; undefined if the text is no JSON, or a number or a literal
 */
export function* readArguments(text: string, pace: Pace, receive: ReceiveArgument): Steps<ArgumentPlaces | undefined> {
  if (!beginsArguments(text)) return undefined
  const document = yield* parseInSteps(encoder.encode(text))
  yield
  if ('fault' in document) return isJson(text) ? yield* readAll(text, pace, receive) : undefined
  const places = new ArgumentPlaces()
  const open: JsonChildren[] = []
  const visit = (value: JsonValue) => {
    const { kind } = value
    if (kind === 'string') {
      places.add(value.place, value.end)
      receive(value.text, true)
    } else if (kind === 'array' || kind === 'object') open.push(value.children())
  }
  visit(document)
  for (let children = open.at(-1); children !== undefined; children = open.at(-1)) {
    const value = children.next()
    if (value === undefined) {
      open.pop()
      continue
    }
    if (children.isObject) {
      const name = children.hasLongName ? yield* children.longName() : children.name
      const { start, end } = children.key
      places.add(start, end)
      receive(name, false)
    }
    visit(value)
    if (pace.after(WORK_PER_STRING + value.end - value.place)) yield
  }
  return places
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
function* readAll(text: string, pace: Pace, receive: ReceiveArgument): Steps<ArgumentPlaces> {
  const places = new ArgumentPlaces()
  let [at, end] = [0, 0]
  for (const { 0: json, index } of text.matchAll(STRING)) {
    const start = end + encoder.encode(text.slice(at, index)).length
    end = start + encoder.encode(json).length
    at = index + json.length
    places.add(start, end)
    receive(parseJson(json) as string, false)
    if (pace.after(WORK_PER_STRING + json.length)) yield
  }
  return places
}
