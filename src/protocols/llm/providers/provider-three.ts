import type { Head } from '#net/http/head.ts'
import type { ProviderBlock } from '../provider-schema.ts'
import type { ClientFormat } from '../route-type.ts'
import {
  bearerToken,
  type Conversion,
  type Credential,
  fixedPaths,
  type HeaderEdits,
  MODEL_UNFIT,
  NO_EDITS,
  NOT_IMPLEMENTED,
  type Provider,
  toSegment,
  UNSUPPORTED,
} from './provider.ts'
import { MESSAGES_VERSION } from './provider-four.ts'

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
    movesMaxTokens: true,
    cloud: 'cloudTwo',
    headers: isProject ? projectHeaders : keyHeaders,
  }
}

const SUFFIXES: Partial<Record<ClientFormat, string>> = {
  Completions: 'chat/completions',
  Responses: 'responses',
  Embeddings: 'embeddings',
}

/** Resource type one: the version determines the path format. */
export function resourcePaths(apiVersion: string | undefined): Provider['convert'] {
  if (apiVersion === undefined || apiVersion === 'v1') return fixedPaths(suffixed('/openai/v1/', ''), [])
  const query = `?api-version=${encodeURIComponent(apiVersion)}`
  if (apiVersion === 'preview') return fixedPaths(suffixed('/openai/v1/', query), [])
  return (format, model) => {
    const suffix = SUFFIXES[format]
    if (suffix === undefined) return NOT_IMPLEMENTED
    if (format === 'Responses') return { kind: 'native', path: `/openai/${suffix}${query}` }
    const deployment = toSegment(model)
    if (deployment === undefined) return MODEL_UNFIT
    return { kind: 'native', path: `/openai/deployments/${deployment}/${suffix}${query}` }
  }
}

/** Resource type two: models of the messages family have separate endpoints that support only that format. */
function projectPaths(projectName: string): Provider['convert'] {
  const chat = fixedPaths(suffixed(`/api/projects/${encodeURIComponent(projectName)}/openai/v1/`, ''), [])
  const messages: Partial<Record<ClientFormat, Conversion>> = {
    Messages: { kind: 'native', path: '/anthropic/v1/messages' },
    MessagesTokenCount: { kind: 'native', path: '/anthropic/v1/messages/count_tokens' },
    Completions: NOT_IMPLEMENTED,
    Responses: UNSUPPORTED,
  }
  return (format, model) => {
    const isMessagesModel = model.slice(0, 6).toLowerCase() === 'claude'
    return (isMessagesModel ? messages[format] : undefined) ?? chat(format)
  }
}

function suffixed(base: string, query: string): Partial<Record<ClientFormat, string>> {
  return Object.fromEntries(Object.entries(SUFFIXES).map(([format, suffix]) => [format, `${base}${suffix}${query}`]))
}

/** Dated versions read keys only from `api-key`, so without an explicit location the key is sent there, too (decision B16). */
export function keyHeaders(request: Head, credential: Credential | undefined): HeaderEdits {
  const key = movableKey(request, credential)
  return key === undefined ? NO_EDITS : { set: [['api-key', key]], remove: [] }
}

function projectHeaders(request: Head, credential: Credential | undefined, path: string): HeaderEdits {
  if (!path.startsWith('/anthropic/')) return keyHeaders(request, credential)
  const set: [string, string][] = []
  if (!request.has('anthropic-version')) set.push(['anthropic-version', MESSAGES_VERSION])
  const key = movableKey(request, credential)
  if (key === undefined) return { set, remove: [] }
  return { set: [...set, ['x-api-key', key]], remove: ['authorization'] }
}

/** A configured key without an explicit location; tokens stay bearer tokens. */
function movableKey(request: Head, credential: Credential | undefined): string | undefined {
  if (credential === undefined || credential.source !== 'key' || credential.explicitLocation) return undefined
  return bearerToken(request)
}
