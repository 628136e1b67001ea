import type { KeptAnswer } from '../../facts/kept-answer.ts'
import { countAt, elementsOf, memberOf, textAt } from '../../json/read-value.ts'

/** Keeps the items of a whole response. */
export function keepItems(output: unknown, kept: KeptAnswer): void {
  elementsOf(output).forEach((item, at) => {
    elementsOf(memberOf(item, 'content')).forEach((part, within) => {
      kept.addText(`${at}.${within}`, textAt(part, 'text') ?? textAt(part, 'refusal'))
    })
    beginCall(item, at, kept)
    kept.addArguments(at, memberOf(item, 'arguments') ?? memberOf(item, 'input'))
  })
}

/** Keeps the output in one event of a stream. */
export function keepItemEvent(event: unknown, kept: KeptAnswer): void {
  const at = countAt(event, 'output_index')
  if (at === undefined) return
  switch (textAt(event, 'type')) {
    case 'response.output_item.added':
      return beginCall(memberOf(event, 'item'), at, kept)
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return kept.addText(`${at}.${countAt(event, 'content_index') ?? 0}`, memberOf(event, 'delta'))
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      return kept.addArguments(at, memberOf(event, 'delta'))
    default:
  }
}

function beginCall(item: unknown, at: number, kept: KeptAnswer): void {
  const type = textAt(item, 'type')
  if (type !== 'function_call' && type !== 'custom_tool_call') return
  kept.beginCall(at, memberOf(item, 'call_id'), memberOf(item, 'name'))
}
