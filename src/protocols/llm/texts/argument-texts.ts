import type { Pace, Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { skipSpace, skipString } from '#base/skip-json.ts'
import { parseInSteps } from '../json/json-document.ts'
import { isJson } from '../json/read-value.ts'

/**
 * Receives each string, in order.
 * @param canChange false: the name of a member
 * @param start in UTF-16 units, quotes included
 */
export type ReceiveArgument = (text: string, canChange: boolean, start: number, end: number) => void

const encoder = new TextEncoder()

/** The work for a string besides that for its characters. */
const WORK_PER_STRING = 256

/**
 * The strings inside the arguments of a tool call, which are JSON in a string, in order. Yields between strings.
 * If an object has a name twice, all its values are among them.
 * @param text the decoded string
 * @returns false if the text is no JSON, or a number or a literal
 */
export function* readArguments(text: string, pace: Pace, receive: ReceiveArgument): Steps<boolean> {
  if (!beginsArguments(text)) return false
  const document = yield* parseInSteps(encoder.encode(text))
  yield
  // An object may have a name twice.
  if ('fault' in document && !isJson(text)) return false
  yield* readStrings(text, pace, receive)
  return true
}

/** Arguments are an object, a list or a string. A number may be what somebody wrote to a tool that takes text. */
export function beginsArguments(text: string): boolean {
  return /^[ \t\r\n]*[{["]/.test(text)
}

/** All strings of a text that is JSON. */
function* readStrings(text: string, pace: Pace, receive: ReceiveArgument): Steps<void> {
  let start = text.indexOf('"')
  while (start >= 0) {
    const end = skipString(text, start)
    const isName = text[skipSpace(text, end)] === ':'
    receive(decode(text.slice(start, end)), !isName, start, end)
    if (pace.after(WORK_PER_STRING + end - start)) yield
    start = text.indexOf('"', end)
  }
}

function decode(json: string): string {
  return json.includes('\\') ? (parseJson(json) as string) : json.slice(1, -1)
}
