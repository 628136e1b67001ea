import { expect, test } from 'vitest'
import { listProducts, meaningsOf, meaningsOfProviders, PRODUCTS, plainWord, withProduct } from './products.ts'

test('every neutral name has its product', () => {
  expect(PRODUCTS).toMatchObject({
    providerOne: 'OpenAI',
    providerTwo: 'Azure OpenAI',
    providerThree: 'Azure AI',
    providerFour: 'Anthropic',
    providerFive: 'Gemini',
    providerSix: 'Vertex AI',
    providerSeven: 'Amazon Bedrock',
    cloudOne: 'AWS',
    cloudTwo: 'Azure',
    cloudThree: 'Google Cloud',
    IdpOne: 'Auth0',
    IdpTwo: 'Keycloak',
    IdpThree: 'Okta',
  })
  expect(withProduct('providerFour')).toBe('providerFour (Anthropic)')
  expect(listProducts(['IdpOne', 'IdpTwo'])).toBe('IdpOne: Auth0. IdpTwo: Keycloak.')
})

test.each([
  ['OpenAI', 'OpenAI is "ai.provider.providerOne"'],
  ['azure-openai', 'Azure OpenAI is "ai.provider.providerTwo"'],
  ['Vertex_AI', 'Vertex AI is "ai.provider.providerSix"'],
  ['claude', 'Anthropic is "ai.provider.providerFour"'],
  ['bedrock', 'Amazon Bedrock is "ai.provider.providerSeven"'],
  ['llama.cpp', 'llama.cpp has an API that is compatible with OpenAI; use "ai.provider.providerOne" with "host"'],
  ['nonsense', undefined],
])('%s: %s', (word, expected) => {
  expect(meaningsOfProviders('ai.provider.')[plainWord(word)]).toBe(expected)
})

test('a word may mean different things in different places', () => {
  expect(meaningsOf(['cloudOne'])).toMatchObject({ aws: 'AWS is "cloudOne"' })
  expect(meaningsOfProviders()).toMatchObject({ aws: 'Amazon Bedrock is "providerSeven"' })
})
