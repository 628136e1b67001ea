import { listProducts, meaningsOf, meaningsOfProviders, PRODUCTS, withProduct } from '#base/products.ts'
import { backendHealth } from '#policies/backend/health/schema.ts'
import { backendTransformation } from '#policies/backend/transformation/schema.ts'
import { backendSimpleFields } from '#policies/shared/connection/backend-simple.ts'
import {
  type ConfigProblem,
  defaulted,
  endpointText,
  enumOf,
  exactlyOne,
  fieldPath,
  formattedText,
  host,
  hostPart,
  longString,
  notEmpty,
  object,
  optional,
  type Parsed,
  port,
  problem,
  required,
  type ScalarRefusal,
  sectionName,
  shortString,
  tinyString,
  withMeanings,
  withRule,
} from '#schema/index.ts'
import { backendAi } from './policy-schema.ts'

const model = optional(
  shortString(),
  'Model that replaces the model named in the request. When unset, the request decides.',
)
const apiVersion = defaulted(tinyString(), 'v1', 'Version of the API.')

const modelOnly = object({ model })

function checkDeploymentName(
  spec: { readonly apiVersion: string; readonly deploymentName?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.apiVersion === 'v1' || spec.deploymentName !== undefined) return []
  const message = 'deploymentName is required unless apiVersion is v1'
  return [problem(fieldPath(path, 'deploymentName'), 'required', message)]
}

const providerTwo = withRule(
  object({
    endpoint: required(endpointText(), 'Host of the API. A leading scheme is stripped.'),
    deploymentName: optional(shortString(), 'Name of the deployment. Required unless apiVersion is v1.'),
    apiVersion,
  }),
  {
    reads: ['apiVersion'],
    description: 'deploymentName is required unless apiVersion is v1.',
    check: checkDeploymentName,
    onServer: "self.apiVersion == 'v1' || has(self.deploymentName)",
  },
)

function checkProjectName(
  spec: { readonly resourceType: string; readonly projectName?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.resourceType !== 'ResourceTypeTwo' || spec.projectName !== undefined) return []
  const message = `projectName is required for resourceType ${withProduct('ResourceTypeTwo')}`
  return [problem(fieldPath(path, 'projectName'), 'required', message)]
}

const RESOURCE_TYPES = ['ResourceTypeOne', 'ResourceTypeTwo'] as const

const providerThree = withRule(
  object({
    resourceName: required(hostPart(), 'Name of the resource. It becomes part of the host name.'),
    resourceType: required(
      withMeanings(meaningsOf(RESOURCE_TYPES), enumOf(...RESOURCE_TYPES)),
      `Type of the resource. It selects the domain of the host name. ${listProducts(RESOURCE_TYPES)}`,
    ),
    model,
    apiVersion,
    projectName: optional(shortString(), `Project of the resource. Required for ${withProduct('ResourceTypeTwo')}.`),
  }),
  {
    reads: ['resourceType'],
    description: 'projectName is required for ResourceTypeTwo.',
    check: checkProjectName,
    onServer: "self.resourceType != 'ResourceTypeTwo' || has(self.projectName)",
  },
)

const providerSix = object({
  model,
  projectId: required(tinyString(), 'Cloud project id.'),
  region: defaulted(tinyString(), 'global', 'Region of the service.'),
})

const REGION = /^[a-z0-9-]+$/

function checkRegion(region: string): ScalarRefusal | undefined {
  if (REGION.test(region)) return undefined
  return { code: 'invalid-region', message: 'must consist of lower-case letters, digits and hyphens' }
}

const providerSeven = object({
  region: defaulted(
    formattedText({ min: 1, max: 63, pattern: REGION }, checkRegion),
    'us-east-1',
    'Region of the service.',
  ),
  model,
  guardrail: optional(
    object({
      identifier: required(shortString(), 'Identifier of the guardrail.'),
      version: required(shortString(), 'Version of the guardrail.'),
    }),
    'Guardrail of the service, applied to every call. When unset, no guardrail applies.',
  ),
})

/** `policies` of a provider in a group (specification 2, 2.3, `BackendWithAI`). */
const backendWithAi = notEmpty(
  object({
    ...backendSimpleFields,
    ai: optional(backendAi),
    transformation: optional(backendTransformation),
    health: optional(backendHealth),
  }),
)

/** Each provider has one block; exactly one is set. */
const PROVIDER_FIELDS = [
  'providerOne',
  'providerTwo',
  'providerThree',
  'providerFour',
  'providerFive',
  'providerSix',
  'providerSeven',
] as const

const PATH_PREFIX_PROVIDERS = ['providerOne', 'providerFour'] as const
const PREFIX_ONLY = `Only for ${PATH_PREFIX_PROVIDERS.map(withProduct).join(' and ')}.`

const MEANINGS = {
  ...meaningsOfProviders(),
  apikey: 'the key belongs in "policies.auth" of the ProxyBackend, or of the provider in a group',
  url: 'use "host", "port" and "path"',
  baseurl: 'use "host", "port" and "pathPrefix"',
}

const llmProviderFields = {
  providerOne: optional(
    modelOnly,
    `${PRODUCTS.providerOne}: an LLM API with the chat completions format. Also for compatible APIs, with host.`,
  ),
  providerTwo: optional(providerTwo, `${PRODUCTS.providerTwo}, addressed by endpoint and deployment.`),
  providerThree: optional(
    providerThree,
    `${PRODUCTS.providerThree}, addressed by a resource: an ${PRODUCTS.ResourceTypeOne} or an ${PRODUCTS.ResourceTypeTwo}.`,
  ),
  providerFour: optional(modelOnly, `${PRODUCTS.providerFour}: an LLM API with the messages format.`),
  providerFive: optional(modelOnly, `${PRODUCTS.providerFive}: the LLM API of Google for developers.`),
  providerSix: optional(providerSix, `${PRODUCTS.providerSix}: the machine-learning platform of Google Cloud.`),
  providerSeven: optional(providerSeven, `${PRODUCTS.providerSeven}: models managed by AWS.`),
  host: optional(host(), "Host that receives the requests. When unset, the provider's default host."),
  port: optional(port(), 'Port that receives the requests.'),
  path: optional(longString(), "Path of the requests. When unset, the provider's default path."),
  pathPrefix: optional(
    longString(),
    `Prefix that replaces the default prefix of the path, for example /v1. ${PREFIX_ONLY}`,
  ),
}

type PrefixView = { readonly pathPrefix?: unknown } & {
  readonly [P in (typeof PATH_PREFIX_PROVIDERS)[number]]?: unknown
}

function checkPathPrefix(spec: PrefixView, path: string): readonly ConfigProblem[] {
  if (spec.pathPrefix === undefined || PATH_PREFIX_PROVIDERS.some((name) => spec[name] !== undefined)) return []
  const message = `pathPrefix is allowed only with ${PATH_PREFIX_PROVIDERS.map(withProduct).join(' or ')}`
  return [problem(fieldPath(path, 'pathPrefix'), 'not-together', message)]
}

const PATH_PREFIX_RULE = {
  reads: [],
  description: `pathPrefix is allowed only with ${PATH_PREFIX_PROVIDERS.map(withProduct).join(' or ')}.`,
  check: checkPathPrefix,
  onServer: `!has(self.pathPrefix) || ${PATH_PREFIX_PROVIDERS.map((name) => `has(self.${name})`).join(' || ')}`,
}

/** `ProxyBackend.spec.ai.provider` (specification 1, 2.4, `LLMProvider`). */
export const llmProvider = withMeanings(
  MEANINGS,
  withRule(exactlyOne(PROVIDER_FIELDS, object(llmProviderFields)), PATH_PREFIX_RULE),
)

/** A provider of a group, with a name and optional policies (`NamedLLMProvider`). */
export const namedLlmProvider = withMeanings(
  MEANINGS,
  withRule(
    exactlyOne(
      PROVIDER_FIELDS,
      object({
        name: required(
          sectionName(),
          'Name of the provider, unique across all groups. Policies target it with this name as sectionName.',
        ),
        policies: optional(backendWithAi, 'Backend policies for requests to this provider.'),
        ...llmProviderFields,
      }),
    ),
    PATH_PREFIX_RULE,
  ),
)

export type LlmProviderSpec = Parsed<typeof llmProvider>
export type NamedLlmProviderSpec = Parsed<typeof namedLlmProvider>
export type ProviderKind = (typeof PROVIDER_FIELDS)[number]
/** The settings in the block of a provider. */
export type ProviderBlock<Kind extends ProviderKind> = NonNullable<LlmProviderSpec[Kind]>
