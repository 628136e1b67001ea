import {
  type ConfigProblem,
  defaulted,
  enumOf,
  exactlyOne,
  fieldPath,
  formattedText,
  host,
  longString,
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
  withRule,
} from '#schema/index.ts'
import { backendWithAi } from './policy-sections.ts'

const model = optional(shortString(), 'Model used whatever the request says; the model of the request when unset.')
const apiVersion = defaulted(tinyString(), 'v1', 'Version of the API.')

const modelOnly = object({ model })

function checkDeploymentName(
  spec: { readonly apiVersion: string; readonly deploymentName?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.apiVersion === 'v1' || spec.deploymentName !== undefined) return []
  const message = 'deploymentName is required for this apiVersion'
  return [problem(fieldPath(path, 'deploymentName'), 'required', message)]
}

const providerTwo = withRule(
  object({
    endpoint: required(shortString(), 'Host of the API; a scheme before it is taken away.'),
    deploymentName: optional(shortString(), 'Name of the deployment; required unless apiVersion is v1.'),
    apiVersion,
  }),
  {
    reads: ['apiVersion'],
    description: 'deploymentName is required unless apiVersion is v1.',
    check: checkDeploymentName,
  },
)

function checkProjectName(
  spec: { readonly resourceType: string; readonly projectName?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.resourceType !== 'ResourceTypeTwo' || spec.projectName !== undefined) return []
  const message = 'projectName is required for resourceType ResourceTypeTwo'
  return [problem(fieldPath(path, 'projectName'), 'required', message)]
}

const providerThree = withRule(
  object({
    resourceName: required(shortString(), 'Name of the resource; the host is built from it.'),
    resourceType: required(
      enumOf('ResourceTypeOne', 'ResourceTypeTwo'),
      'Type of the resource; it decides the rest of the host.',
    ),
    model,
    apiVersion,
    projectName: optional(shortString(), 'Project of the resource; required for ResourceTypeTwo.'),
  }),
  {
    reads: ['resourceType'],
    description: 'projectName is required for ResourceTypeTwo.',
    check: checkProjectName,
  },
)

const providerSix = object({
  model,
  projectId: required(tinyString(), 'Project id of the cloud.'),
  region: defaulted(tinyString(), 'global', 'Region of the service.'),
})

function checkRegion(region: string): ScalarRefusal | undefined {
  if (/^[a-z0-9-]+$/.test(region)) return undefined
  return { code: 'invalid-region', message: 'must consist of lower-case letters, digits and hyphens' }
}

const providerSeven = object({
  region: defaulted(formattedText({ min: 1, max: 63 }, checkRegion), 'us-east-1', 'Region of the service.'),
  model,
  guardrail: optional(
    object({
      identifier: required(shortString(), 'Identifier of the guardrail.'),
      version: required(shortString(), 'Version of the guardrail.'),
    }),
    'Guardrail of the service applied to every call; none when unset.',
  ),
})

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

const llmProviderFields = {
  providerOne: optional(modelOnly, 'A hosted LLM API in the style of chat completions.'),
  providerTwo: optional(providerTwo, 'The cloud-hosted variant of provider one, addressed by endpoint and deployment.'),
  providerThree: optional(providerThree, 'The cloud-hosted variant with resources of two types.'),
  providerFour: optional(modelOnly, 'An LLM API in the style of messages.'),
  providerFive: optional(modelOnly, 'A multimodal LLM API.'),
  providerSix: optional(providerSix, 'The LLM API of a cloud machine-learning platform.'),
  providerSeven: optional(providerSeven, 'The LLM API of a cloud with managed models.'),
  host: optional(host(), "Host that requests go to; the provider's own when unset."),
  port: optional(port(), 'Port that requests go to.'),
  path: optional(longString(), "Path of requests; the provider's own when unset."),
  pathPrefix: optional(
    longString(),
    'Start of the path in place of the usual one, for example /v1; for providerOne and providerFour.',
  ),
}

type PrefixView = { readonly pathPrefix?: unknown } & {
  readonly [P in (typeof PATH_PREFIX_PROVIDERS)[number]]?: unknown
}

function checkPathPrefix(spec: PrefixView, path: string): readonly ConfigProblem[] {
  if (spec.pathPrefix === undefined || PATH_PREFIX_PROVIDERS.some((name) => spec[name] !== undefined)) return []
  const message = `pathPrefix is only for ${PATH_PREFIX_PROVIDERS.join(' and ')}`
  return [problem(fieldPath(path, 'pathPrefix'), 'not-together', message)]
}

const PATH_PREFIX_RULE = {
  reads: [],
  description: 'pathPrefix is only for providerOne and providerFour.',
  check: checkPathPrefix,
}

/** `ProxyBackend.spec.ai.provider` (specification 1, 2.4, `LLMProvider`). */
export const llmProvider = withRule(exactlyOne(PROVIDER_FIELDS, object(llmProviderFields)), PATH_PREFIX_RULE)

/** A provider of a group: it has a name and may have policies of its own (`NamedLLMProvider`). */
export const namedLlmProvider = withRule(
  exactlyOne(
    PROVIDER_FIELDS,
    object({
      name: required(
        sectionName(),
        'Name of the provider, unique in all groups; policies reach it by this sectionName.',
      ),
      policies: optional(backendWithAi, 'Settings of the connection to this provider.'),
      ...llmProviderFields,
    }),
  ),
  PATH_PREFIX_RULE,
)

export type LlmProviderSpec = Parsed<typeof llmProvider>
export type NamedLlmProviderSpec = Parsed<typeof namedLlmProvider>
