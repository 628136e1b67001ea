import { flattenContent } from '../flatten-content.ts'
import { elementsOf, memberOf } from '../json/read-value.ts'
import type { KeptAnswer } from '../kept-answer.ts'

/** Keeps what is in `choices`, of a whole answer or of one chunk of a stream. */
export function keepChoices(choices: unknown, kept: KeptAnswer): void {
  elementsOf(choices).forEach((choice, position) => {
    const index = memberOf(choice, 'index')
    const key = typeof index === 'number' ? index : position
    keepMessage(memberOf(choice, 'message') ?? memberOf(choice, 'delta'), key, kept)
  })
}

function keepMessage(message: unknown, choice: number, kept: KeptAnswer): void {
  kept.addText(choice, flattenContent(memberOf(message, 'content'), ''))
  kept.addText(choice, memberOf(message, 'refusal'))
  elementsOf(memberOf(message, 'tool_calls')).forEach((call, position) => {
    // Only chunks number their calls: there each part of a call comes alone.
    const key = `${choice}.${memberOf(call, 'index') ?? position}`
    const called = memberOf(call, 'function') ?? memberOf(call, 'custom')
    kept.beginCall(key, memberOf(call, 'id'), memberOf(called, 'name'))
    kept.addArguments(key, memberOf(called, 'arguments') ?? memberOf(called, 'input'))
  })
}
