/** The products that the neutral names of the API stand for. */
export const PRODUCTS = {
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
  moderationEndpoint: 'OpenAI moderation',
  guardrailsServiceOne: 'Bedrock Guardrails',
  guardrailsServiceTwo: 'Google Model Armor',
  ResourceTypeOne: 'Azure OpenAI resource',
  ResourceTypeTwo: 'Azure AI Foundry project',
  IdpOne: 'Auth0',
  IdpTwo: 'Keycloak',
  IdpThree: 'Okta',
} as const

export type NeutralName = keyof typeof PRODUCTS

/** `providerOne (OpenAI)`, for messages. */
export function withProduct(name: NeutralName): string {
  return `${name} (${PRODUCTS[name]})`
}

/** Providers by their name in telemetry, `gen_ai.provider.name` of OpenTelemetry, which is that of a vendor. */
const OF_SYSTEMS: ReadonlyMap<string, readonly NeutralName[]> = new Map([
  ['openai', ['providerOne']],
  ['azure', ['providerTwo', 'providerThree']],
  ['anthropic', ['providerFour']],
  ['gcp.gemini', ['providerFive']],
  ['gcp.vertex_ai', ['providerSix']],
  ['aws.bedrock', ['providerSeven']],
])

/** For people: `openai` is `providerOne (OpenAI)`. A name that is not known stays as it is. */
export function systemWithProduct(system: string): string {
  return OF_SYSTEMS.get(system)?.map(withProduct).join(' or ') ?? system
}

/** `IdpOne: Auth0. IdpTwo: Keycloak.`, for descriptions of fields. */
export function listProducts(names: readonly NeutralName[]): string {
  return names.map((name) => `${name}: ${PRODUCTS[name]}.`).join(' ')
}

/** A name as it is, or with its product. */
export function nameWithProduct(name: string): string {
  return Object.hasOwn(PRODUCTS, name) ? withProduct(name as NeutralName) : name
}

/** Other words for a product, in lower case without separators. The name of the product is one, too. */
const OTHER_WORDS: { readonly [N in NeutralName]?: readonly string[] } = {
  providerOne: ['gpt', 'chatgpt'],
  providerTwo: ['azure'],
  providerThree: ['azure', 'foundry', 'azureaifoundry', 'azurefoundry'],
  providerFour: ['claude'],
  providerFive: ['google', 'googleai'],
  providerSix: ['google', 'vertex', 'gcpvertexai', 'googlevertexai'],
  providerSeven: ['bedrock', 'awsbedrock', 'aws'],
  cloudOne: ['awssigv4', 'sigv4', 'iam'],
  cloudTwo: ['entra', 'entraid', 'azuread'],
  cloudThree: ['gcp', 'google'],
  moderationEndpoint: ['moderation', 'openai'],
  guardrailsServiceOne: ['bedrock', 'awsguardrails', 'guardrails'],
  guardrailsServiceTwo: ['modelarmor'],
  ResourceTypeOne: ['openai', 'azureopenai'],
  ResourceTypeTwo: ['foundry', 'aifoundry', 'azureaifoundry'],
}

/** Products whose API is compatible with that of providerOne. */
const COMPATIBLE = [
  ...['Mistral', 'Cohere', 'Groq', 'DeepSeek', 'xAI', 'OpenRouter', 'Together', 'Fireworks', 'Perplexity'],
  ...['Ollama', 'vLLM', 'LiteLLM', 'llama.cpp'],
]

/** What to write instead of a word, by the word in lower case without separators. */
export type Meanings = Readonly<Record<string, string>>

/** The form of a word in `Meanings`. */
export function plainWord(word: string): string {
  return word.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Meanings of product names. @param path of the fields, with a dot at its end */
export function meaningsOf(names: readonly NeutralName[], path = ''): Meanings {
  const words = new Set(names.flatMap(wordsFor))
  return Object.fromEntries(
    [...words].map((word) => [
      word,
      meaningOf(
        names.filter((name) => wordsFor(name).includes(word)),
        path,
      ),
    ]),
  )
}

function meaningOf(names: readonly NeutralName[], path: string): string {
  if (names.length > 1) return `choose ${names.map((name) => `"${path}${name}" (${PRODUCTS[name]})`).join(' or ')}`
  return names.map((name) => `${PRODUCTS[name]} is "${path}${name}"`).join()
}

function wordsFor(name: NeutralName): readonly string[] {
  return [plainWord(PRODUCTS[name]), ...(OTHER_WORDS[name] ?? [])]
}

/** The neutral names that a word may mean: `openai` and `providerOne` mean `providerOne`. */
export function namesMeantBy(word: string): readonly NeutralName[] {
  const names = Object.keys(PRODUCTS) as NeutralName[]
  return names.filter((name) => [plainWord(name), ...wordsFor(name)].includes(plainWord(word)))
}

/** The names that a word can be replaced by alone, according to its meaning: none if something else has to change, too. */
export function replacementsIn(meaning: string): readonly string[] {
  const isName = /^(?:use|[^"]+ is) "[^"]+"$/.test(meaning) || /^choose "/.test(meaning)
  return isName ? [...meaning.matchAll(/"([A-Za-z]+)"/g)].map(([, name]) => name!) : []
}

/** Meanings of the names of LLM providers, including those that have the API of providerOne. */
export function meaningsOfProviders(path = ''): Meanings {
  const compatible = COMPATIBLE.map((product) => [
    plainWord(product),
    `${product} has an API that is compatible with OpenAI; use "${path}providerOne" with "host"`,
  ])
  const names = Object.keys(PRODUCTS).filter((name) => name.startsWith('provider')) as NeutralName[]
  return { ...Object.fromEntries(compatible), ...meaningsOf(names, path) }
}
