import { expect, test } from 'vitest'
import { compileExpression } from './compile-expression.ts'
import { joinLlmReads, llmReadsOf, READS_NOTHING } from './llm-reads.ts'

test.each([
  ['request.method', READS_NOTHING],
  ['llm.inputTokens', { ...READS_NOTHING, tokens: true }],
  ['llm.timePerOutputToken', { ...READS_NOTHING, tokens: true }],
  ['llm.cost.total', { ...READS_NOTHING, tokens: true }],
  ['size(llm.cost) > 0', { ...READS_NOTHING, tokens: true }],
  ['llm.costRates.input', { ...READS_NOTHING, tokens: true }],
  ['llm.completion', { ...READS_NOTHING, completion: true }],
  ['llm.toolCalls', { ...READS_NOTHING, toolCalls: true }],
])('%s reads %j', (source, expected) => {
  const reads = llmReadsOf([compileExpression(source, 'log', () => {})])
  expect(reads).toEqual(expected)
  expect(joinLlmReads([READS_NOTHING, reads])).toEqual(expected)
  expect(joinLlmReads([])).toEqual(READS_NOTHING)
})
