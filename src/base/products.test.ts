import { expect, test } from 'vitest'
import {
  listProducts,
  meaningsOf,
  meaningsOfProviders,
  type NeutralName,
  PRODUCTS,
  plainWord,
  replacementsIn,
  withProduct,
} from './products.ts'

test('a neutral name is shown with its product', () => {
  expect(withProduct('providerFour')).toBe('providerFour (Anthropic)')
  expect(listProducts(['providerOne', 'providerTwo', 'providerThree', 'providerFive'])).toBe(
    'providerOne: OpenAI. providerTwo: Azure OpenAI. providerThree: Azure AI. providerFive: Gemini.',
  )
  expect(listProducts(['providerSix', 'providerSeven'])).toBe('providerSix: Vertex AI. providerSeven: Amazon Bedrock.')
  expect(listProducts(['cloudOne', 'cloudTwo', 'cloudThree'])).toBe(
    'cloudOne: AWS. cloudTwo: Azure. cloudThree: Google Cloud.',
  )
  expect(listProducts(['IdpOne', 'IdpTwo', 'IdpThree'])).toBe('IdpOne: Auth0. IdpTwo: Keycloak. IdpThree: Okta.')
})

test.each([
  ['OpenAI', 'OpenAI is "ai.provider.providerOne"'],
  ['azure-openai', 'Azure OpenAI is "ai.provider.providerTwo"'],
  ['Vertex_AI', 'Vertex AI is "ai.provider.providerSix"'],
  ['claude', 'Anthropic is "ai.provider.providerFour"'],
  ['bedrock', 'Amazon Bedrock is "ai.provider.providerSeven"'],
  ['llama.cpp', 'llama.cpp has an API that is compatible with OpenAI; use "ai.provider.providerOne" with "host"'],
  ['azure', 'choose "ai.provider.providerTwo" (Azure OpenAI) or "ai.provider.providerThree" (Azure AI)'],
  ['google', 'choose "ai.provider.providerFive" (Gemini) or "ai.provider.providerSix" (Vertex AI)'],
  ['nonsense', undefined],
])('%s: %s', (word, expected) => {
  expect(meaningsOfProviders('ai.provider.')[plainWord(word)]).toBe(expected)
})

test.each<[NeutralName, string]>([
  ['providerOne', 'openai gpt chatgpt'],
  ['providerTwo', 'azureopenai azure'],
  ['providerThree', 'azureai azure foundry azureaifoundry azurefoundry'],
  ['providerFour', 'anthropic claude'],
  ['providerFive', 'gemini google googleai'],
  ['providerSix', 'vertexai google vertex gcpvertexai googlevertexai'],
  ['providerSeven', 'amazonbedrock bedrock awsbedrock aws'],
  ['cloudOne', 'aws awssigv4 sigv4 iam'],
  ['cloudTwo', 'azure entra entraid azuread'],
  ['cloudThree', 'googlecloud gcp google'],
  ['moderationEndpoint', 'openaimoderation moderation openai'],
  ['guardrailsServiceOne', 'bedrockguardrails bedrock awsguardrails guardrails'],
  ['guardrailsServiceTwo', 'googlemodelarmor modelarmor'],
  ['ResourceTypeOne', 'azureopenairesource openai azureopenai'],
  ['ResourceTypeTwo', 'azureaifoundryproject foundry aifoundry azureaifoundry'],
  ['IdpOne', 'auth0'],
])('words for %s: %s', (name, words) => {
  expect(Object.keys(meaningsOf([name])).join(' ')).toBe(words)
})

test('products that are compatible with providerOne', () => {
  const own = Object.keys(PRODUCTS).flatMap((name) => Object.keys(meaningsOf([name as NeutralName])))
  expect(
    Object.keys(meaningsOfProviders())
      .filter((word) => !own.includes(word))
      .join(' '),
  ).toBe('mistral cohere groq deepseek xai openrouter together fireworks perplexity ollama vllm litellm llamacpp')
})

test('a word may mean different things in different places', () => {
  expect(meaningsOf(['cloudOne'])).toMatchObject({ aws: 'AWS is "cloudOne"' })
  expect(meaningsOfProviders()).toMatchObject({ aws: 'Amazon Bedrock is "providerSeven"' })
})

test.each([
  ['OpenAI is "providerOne"', ['providerOne']],
  ['use "hostnames"', ['hostnames']],
  ['choose "providerTwo" (Azure OpenAI) or "providerThree" (Azure AI)', ['providerTwo', 'providerThree']],
  ['OpenAI is "ai.provider.providerOne"', []],
  ['Groq has an API that is compatible with OpenAI; use "providerOne" with "host"', []],
  ['use "PathPrefix", which compares whole segments of the path', []],
])('%s: only the name changes to one of %j', (meaning, names) => {
  expect(replacementsIn(meaning)).toEqual(names)
})
