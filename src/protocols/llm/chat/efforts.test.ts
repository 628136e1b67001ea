import { expect, test } from 'vitest'
import type { JsonValue } from '../json/json-document.ts'
import { modelOf } from '../models/models.ts'
import type { ReasoningWish } from './conversation.ts'
import { type Thinking, thinkingFor } from './efforts.ts'

type Wish = Omit<ReasoningWish, 'origin'>
const origin = {} as JsonValue
const MAX_TOKENS = 40_000

function thinking(model: string, wish: Wish | undefined, isForbidden = false, maxTokens = MAX_TOKENS) {
  return thinkingFor(wish && { ...wish, origin }, modelOf(model), maxTokens, isForbidden)
}

const plan = (parts: Partial<Thinking>): Thinking => ({
  kind: undefined,
  budget: undefined,
  effort: undefined,
  ...parts,
})

/** Decision B24. */
test.each<[model: string, wish: Wish, plan: Partial<Thinking> | undefined]>([
  ['claude-sonnet-4-5', { effort: 'minimal' }, { kind: 'budget', budget: 1024 }],
  ['claude-sonnet-4-5', { effort: 'low' }, { kind: 'budget', budget: 1024 }],
  ['claude-sonnet-4-5', { effort: 'medium' }, { kind: 'budget', budget: 2048 }],
  ['claude-sonnet-4-5', { effort: 'high' }, { kind: 'budget', budget: 4096 }],
  ['claude-sonnet-4-5', { effort: 'xhigh' }, { kind: 'budget', budget: 8192 }],
  ['claude-sonnet-4-5', { effort: 'max' }, { kind: 'budget', budget: 16_384 }],
  ['claude-sonnet-4-5', { effort: 'none' }, {}],
  ['claude-sonnet-4-5', { adaptive: true }, { kind: 'budget', budget: 4096 }],
  ['claude-sonnet-4-5', { budget: 3000, effort: 'max' }, { kind: 'budget', budget: 3000 }],
  ['claude-sonnet-4-5', { budget: 1000 }, undefined],
  ['claude-sonnet-4-5', { effort: 'low', adaptive: false }, undefined],
  ['claude-opus-4-5', { effort: 'max', adaptive: false }, { effort: 'high' }],
  ['claude-3-5-sonnet-20241022', { effort: 'high' }, undefined],
  ['claude-opus-4-6', { effort: 'minimal' }, { kind: 'adaptive', effort: 'low' }],
  ['claude-opus-4-6', { effort: 'xhigh' }, { kind: 'adaptive', effort: 'high' }],
  ['claude-opus-4-6', { effort: 'max' }, { kind: 'adaptive', effort: 'max' }],
  ['claude-opus-4-6', { budget: 10_000 }, { kind: 'adaptive', effort: 'high' }],
  ['claude-opus-4-6', { budget: 2048 }, { kind: 'adaptive', effort: 'medium' }],
  ['claude-opus-4-6', { budget: 100 }, { kind: 'adaptive', effort: 'low' }],
  ['claude-opus-4-7', { effort: 'xhigh' }, { kind: 'adaptive', effort: 'xhigh' }],
  ['claude-opus-4-7', { adaptive: true }, { kind: 'adaptive' }],
  ['claude-opus-4-7', { effort: 'none' }, {}],
  ['claude-opus-5', { effort: 'none' }, { kind: 'disabled' }],
  ['claude-sonnet-5-5', { effort: 'none' }, { kind: 'between_tools' }],
  ['claude-opus-5-5', { effort: 'none' }, { effort: 'low' }],
  ['claude-opus-99', { effort: 'xhigh' }, { kind: 'adaptive', effort: 'xhigh' }],
  ['eu.anthropic.claude-haiku-4-5-20251001-v1:0', { effort: 'low' }, { kind: 'budget', budget: 1024 }],
])('%s with %j', (model, wish, expected) => {
  expect(thinking(model, wish)).toEqual(expected && plan(expected))
})

test.each<[wish: Wish, maxTokens: number, budget: number | undefined]>([
  [{ effort: 'max' }, 4096, 2048],
  [{ effort: 'high' }, 8192, 4096],
  [{ effort: 'high' }, 8191, 2048],
  [{ effort: 'high' }, 2048, 1024],
  [{ effort: 'low' }, 2047, undefined],
  [{ budget: 3000 }, 3001, 3000],
  [{ budget: 3000 }, 3000, 1500],
])('%j of %i tokens leaves half for the answer', (wish, maxTokens, budget) => {
  const expected = budget === undefined ? undefined : plan({ kind: 'budget', budget })
  expect(thinking('claude-sonnet-4-5', wish, false, maxTokens)).toEqual(expected)
})

/** Decision B25. */
test.each<[model: string, wish: Wish | undefined, plan: Partial<Thinking> | undefined]>([
  ['claude-sonnet-4-5', { effort: 'high' }, undefined],
  ['claude-opus-4-7', { effort: 'high' }, undefined],
  ['claude-opus-4-7', undefined, {}],
  ['claude-opus-5', undefined, { kind: 'disabled' }],
  ['claude-opus-5', { effort: 'max', adaptive: false }, { kind: 'disabled', effort: 'high' }],
  ['claude-fable-5', undefined, {}],
])('%s with %j, where thinking is not possible', (model, wish, expected) => {
  expect(thinking(model, wish, true)).toEqual(expected && plan(expected))
})
