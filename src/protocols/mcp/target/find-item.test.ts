import { expect, test } from 'vitest'
import { mcpPlan } from '#test/support/mcp-plan.ts'
import { findItem } from './find-item.ts'

const several = mcpPlan(['a', 'b'])
const single = mcpPlan(['a'])

test.each([
  ['tool-name', { name: 'a_x', arguments: {} }, 'tool', 'a_x', 'x', 'a', { name: 'x', arguments: {} }],
  ['prompt-name', { name: 'b_x' }, 'prompt', 'b_x', 'x', 'b', { name: 'x' }],
  ['prompt-name', { name: 'c_x' }, 'prompt', 'c_x', 'c_x', undefined, { name: 'c_x' }],
  ['uri', { uri: 'a+memo://x' }, 'resource', 'a+memo://x', 'memo://x', 'a', { uri: 'memo://x' }],
  [
    'ref',
    { ref: { type: 'ref/prompt', name: 'a_x' }, argument: 1 },
    'prompt',
    'a_x',
    'x',
    'a',
    { ref: { type: 'ref/prompt', name: 'x' }, argument: 1 },
  ],
  [
    'ref',
    { ref: { type: 'ref/resource', uri: 'b+memo://{x}' } },
    'resource',
    'b+memo://{x}',
    'memo://{x}',
    'b',
    { ref: { type: 'ref/resource', uri: 'memo://{x}' } },
  ],
] as const)('the item that %s of %j identifies', (parameter, params, kind, publicName, name, target, sent) => {
  const found = findItem(several, parameter, params)
  expect(found).toMatchObject({ kind, publicName, name, params: sent })
  expect(found?.target?.name).toBe(target)
})

test.each([
  ['tool-name', undefined],
  ['tool-name', {}],
  ['tool-name', { name: 1 }],
  ['uri', { name: 'a_x' }],
  ['ref', {}],
  ['ref', { ref: 'a' }],
  ['ref', { ref: { type: 'ref/prompt', uri: 'a+memo://x' } }],
  ['ref', { ref: { type: 'ref/Prompt', name: 'a_x', uri: 'a+memo://x' } }],
] as const)('%s of %j identifies no item', (parameter, params) => {
  expect(findItem(several, parameter, params)).toBeUndefined()
})

test('a single target gets the parameters as they are', () => {
  const params = { name: 'a_x' }
  expect(findItem(single, 'tool-name', params)?.params).toBe(params)
})
