import type { Head } from '#net/http/head.ts'
import { MESSAGES_VERSION } from '../dialects/messages/version-fields.ts'
import type { ProviderBlock } from '../settings/provider-schema.ts'
import {
  bearerToken,
  type Credential,
  chatEndpoints,
  competingKeys,
  fixedEndpoints,
  type HeaderEdits,
  MODEL_UNFIT,
  messagesEndpoints,
  NO_EDITS,
  type Provider,
  type RealtimeEndpoint,
  toSegment,
} from './provider.ts'

/** Azure AI, by resource. */
export function buildProviderThree(block: ProviderBlock<'providerThree'>): Provider {
  const isProject = block.resourceType === 'ResourceTypeTwo'
  const suffix = isProject ? 'services.ai.azure.com' : 'openai.azure.com'
  return {
    system: 'azure',
    host: `${block.resourceName}.${suffix}`,
    port: 443,
    pin: block.model,
    convert: isProject ? projectPaths(block.projectName ?? '') : resourcePaths(block.apiVersion),
    ...(!isProject && { modelsPath: resourceModels(block.apiVersion) }),
    realtime: isProject ? projectSessions(block.projectName ?? '') : resourceSessions(block.apiVersion),
    movesMaxTokens: true,
    ...(knowsNewLimit(block.apiVersion) && { newLimit: 'everywhere' as const }),
    cloud: 'cloudTwo',
    headers: isProject ? projectHeaders : keyHeaders,
  }
}

/** Resource type one: the version determines the path format. */
export function resourcePaths(apiVersion: string | undefined): Provider['convert'] {
  if (apiVersion === undefined || apiVersion === 'v1') return fixedEndpoints(chatEndpoints('/openai/v1'))
  const query = `?api-version=${encodeURIComponent(apiVersion)}`
  if (apiVersion === 'preview') return fixedEndpoints(chatEndpoints('/openai/v1', query))
  const responses = `/openai/responses${query}`
  // Paths are those below a deployment.
  const chat = fixedEndpoints(chatEndpoints('', query))
  return (format, model) => {
    if (format === 'Responses') return { kind: 'send', dialect: 'responses', path: responses }
    const deployment = toSegment(model)
    if (deployment === undefined) return MODEL_UNFIT
    const conversion = chat(format)
    if (conversion.kind !== 'send') return conversion
    return { ...conversion, path: `/openai/deployments/${deployment}${conversion.path}` }
  }
}

/** Versions with dates know `max_completion_tokens` since December 2024; `v1` and `preview` sort after dates. */
export function knowsNewLimit(apiVersion = 'v1'): boolean {
  return apiVersion >= '2024-12'
}

/** The list of the models that the resource offers. */
export function resourceModels(apiVersion: string | undefined): string {
  if (apiVersion === undefined || apiVersion === 'v1') return '/openai/v1/models'
  return `/openai/${apiVersion === 'preview' ? 'v1/' : ''}models?api-version=${encodeURIComponent(apiVersion)}`
}

/** Sessions have the same forms of paths. */
export function resourceSessions(apiVersion: string | undefined): NonNullable<Provider['realtime']> {
  const endpoint = sessionEndpoint(apiVersion)
  return () => endpoint
}

function sessionEndpoint(apiVersion: string | undefined): RealtimeEndpoint {
  if (apiVersion === undefined || apiVersion === 'v1') return { path: '/openai/v1/realtime', parameter: 'model' }
  const query = `?api-version=${encodeURIComponent(apiVersion)}`
  if (apiVersion === 'preview') return { path: `/openai/v1/realtime${query}`, parameter: 'model' }
  return { path: `/openai/realtime${query}`, parameter: 'deployment' }
}

/** Resource type two: models of the messages family have separate endpoints that support only that format. */
function projectPaths(projectName: string): Provider['convert'] {
  const chat = fixedEndpoints(chatEndpoints(projectBase(projectName)))
  const messages = fixedEndpoints(messagesEndpoints('/anthropic/v1'))
  return (format, model) => {
    return format !== 'Embeddings' && isMessagesModel(model) ? messages(format) : chat(format)
  }
}

function projectSessions(projectName: string): NonNullable<Provider['realtime']> {
  const endpoint: RealtimeEndpoint = { path: `${projectBase(projectName)}/realtime`, parameter: 'model' }
  return (model) => (isMessagesModel(model) ? undefined : endpoint)
}

function projectBase(projectName: string): string {
  return `/api/projects/${encodeURIComponent(projectName)}/openai/v1`
}

function isMessagesModel(model: string): boolean {
  return model.slice(0, 6).toLowerCase() === 'claude'
}

/** Dated versions read keys only from `api-key`, so without an explicit location the key is sent there, too (decision B16). */
export function keyHeaders(request: Head, credential: Credential | undefined): HeaderEdits {
  const key = movableKey(request, credential)
  if (key !== undefined) return { set: [['api-key', key]], remove: [] }
  const remove = competingKeys(request, credential, ['api-key'])
  return remove.length === 0 ? NO_EDITS : { set: [], remove }
}

const KEY_FIELDS = ['api-key', 'x-api-key']

function projectHeaders(request: Head, credential: Credential | undefined, path: string): HeaderEdits {
  if (!path.startsWith('/anthropic/')) return keyHeaders(request, credential)
  const set: [string, string][] = []
  if (!request.has('anthropic-version')) set.push(['anthropic-version', MESSAGES_VERSION])
  const key = movableKey(request, credential)
  const remove = competingKeys(request, credential, KEY_FIELDS)
  if (key === undefined) return { set, remove }
  return {
    set: [...set, ['x-api-key', key]],
    remove: ['authorization', ...remove.filter((name) => name === 'api-key')],
  }
}

/** A configured key without an explicit location; tokens stay bearer tokens. */
function movableKey(request: Head, credential: Credential | undefined): string | undefined {
  if (credential === undefined || credential.source !== 'key' || credential.location !== 'usual') return undefined
  return bearerToken(request)
}
