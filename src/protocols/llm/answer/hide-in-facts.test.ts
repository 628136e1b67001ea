import { expect, test } from 'vitest'
import { type LlmFacts, NO_LLM } from '#exchange/llm-facts.ts'
import { exchangeWith } from '#policies/shared/testing.ts'
import { hideInFacts } from './hide-in-facts.ts'

const TOKEN = 'ya29.token-of-a-cloud'

test.each<[credential: string | undefined, shown: string]>([
  [`Bearer ${TOKEN}`, '<redacted>'],
  [TOKEN, '<redacted>'],
  ['Bearer another-token-of-it', TOKEN],
  ['Bearer a-longer-token-than-any-of-these', TOKEN],
  ['ya29', TOKEN],
  [undefined, TOKEN],
])('with %s, what a provider says of itself reads %s', (credential, shown) => {
  const exchange = exchangeWith()
  exchange.sentCredential = credential
  for (const name of ['responseModel', 'responseId', 'errorType', 'serviceTier'] as const) {
    const facts: LlmFacts = { ...NO_LLM, [name]: TOKEN }
    hideInFacts(facts, exchange)
    expect(facts).toEqual({ ...NO_LLM, [name]: shown })
  }
  const facts: LlmFacts = { ...NO_LLM, finishReasons: ['stop', TOKEN] }
  hideInFacts(facts, exchange)
  expect(facts).toEqual({ ...NO_LLM, finishReasons: ['stop', shown] })
})

test('texts that all have it are all hidden', () => {
  const exchange = exchangeWith()
  exchange.sentCredential = TOKEN
  const named = (text: string) => ({ responseModel: text, responseId: text, errorType: text, serviceTier: text })
  const facts: LlmFacts = { ...NO_LLM, ...named(TOKEN) }
  hideInFacts(facts, exchange)
  expect(facts).toEqual({ ...NO_LLM, ...named('<redacted>') })
})
