import { flattenContent } from '../../facts/flatten-content.ts'
import type { KeptAnswer } from '../../facts/kept-answer.ts'
import { countAt, elementsOf, memberOf } from '../../json/read-value.ts'
import type { CallNumbers, CallsOfChoices } from '../../texts/call-numbers.ts'

/**
 * Keeps the contents of `choices`, of a whole response or of one chunk of a stream.
 * @param calls those of a stream
 */
export function keepChoices(choices: unknown, kept: KeptAnswer, calls?: CallsOfChoices): void {
  elementsOf(choices).forEach((choice, position) => {
    const index = countAt(choice, 'index') ?? position
    keepMessage(memberOf(choice, 'message') ?? memberOf(choice, 'delta'), index, kept, calls?.of(index))
  })
}

function keepMessage(message: unknown, choice: number, kept: KeptAnswer, numbers: CallNumbers | undefined): void {
  kept.addText(choice, flattenContent(memberOf(message, 'content'), ''))
  kept.addText(choice, memberOf(message, 'refusal'))
  elementsOf(memberOf(message, 'tool_calls')).forEach((call, position) => {
    const key = `${choice}.${numbers?.of(call) ?? position}`
    const called = memberOf(call, 'function') ?? memberOf(call, 'custom')
    kept.beginCall(key, memberOf(call, 'id'), memberOf(called, 'name'))
    kept.addArguments(key, memberOf(called, 'arguments') ?? memberOf(called, 'input'))
  })
}
