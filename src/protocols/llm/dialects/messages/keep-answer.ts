import type { KeptAnswer } from '../../facts/kept-answer.ts'
import { countAt, elementsOf, memberOf, textAt } from '../../json/read-value.ts'

/** Keeps the blocks of a whole response. */
export function keepBlocks(content: unknown, kept: KeptAnswer): void {
  elementsOf(content).forEach((block, index) => {
    beginBlock(block, index, kept)
    kept.setArguments(index, memberOf(block, 'input'))
  })
}

/** Keeps the output in one event of a stream. */
export function keepBlockEvent(event: unknown, kept: KeptAnswer): void {
  const index = countAt(event, 'index')
  if (index === undefined) return
  const delta = memberOf(event, 'delta')
  beginBlock(memberOf(event, 'content_block'), index, kept)
  kept.addText(index, memberOf(delta, 'text'))
  kept.addArguments(index, memberOf(delta, 'partial_json'))
}

function beginBlock(block: unknown, index: number, kept: KeptAnswer): void {
  const type = textAt(block, 'type')
  if (type === 'text') kept.addText(index, memberOf(block, 'text'))
  if (type === 'tool_use') kept.beginCall(index, memberOf(block, 'id'), memberOf(block, 'name'))
}
