import { flattenContent } from '../answer/flatten-content.ts'
import type { KeptAnswer } from '../answer/kept-answer.ts'
import { countAt, elementsOf, memberOf } from '../json/read-value.ts'

/** Keeps the contents of `choices`, of a whole response or of one chunk of a stream. */
export function keepChoices(choices: unknown, kept: KeptAnswer): void {
  elementsOf(choices).forEach((choice, position) => {
    keepMessage(memberOf(choice, 'message') ?? memberOf(choice, 'delta'), indexOf(choice, position), kept)
  })
}

function keepMessage(message: unknown, choice: number, kept: KeptAnswer): void {
  kept.addText(choice, flattenContent(memberOf(message, 'content'), ''))
  kept.addText(choice, memberOf(message, 'refusal'))
  elementsOf(memberOf(message, 'tool_calls')).forEach((call, position) => {
    const key = `${choice}.${indexOf(call, position)}`
    const called = memberOf(call, 'function') ?? memberOf(call, 'custom')
    kept.beginCall(key, memberOf(call, 'id'), memberOf(called, 'name'))
    kept.addArguments(key, memberOf(called, 'arguments') ?? memberOf(called, 'input'))
  })
}

/** Chunks have an index; in a whole response the position is the index. */
function indexOf(part: unknown, position: number): number {
  return countAt(part, 'index') ?? position
}
