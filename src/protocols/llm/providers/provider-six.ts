import type { Steps } from '#base/in-slices.ts'
import type { ProviderBlock } from '../settings/provider-schema.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { editMessagesBody, replaceModel } from './edit-messages-body.ts'
import { COUNT, type Conversion, competingKeys, MODEL_UNFIT, type Provider, toSegment } from './provider.ts'
import { KEY_FIELD } from './provider-five.ts'

/** Version of the messages API that the platform requires in bodies. */
const MESSAGES_VERSION = 'vertex-2023-10-16'

/** Vertex AI: models of the messages family have endpoints for each model, the others share one for chat completions. */
export function buildProviderSix(block: ProviderBlock<'providerSix'>): Provider {
  const region = block.region ?? 'global'
  const base = `/v1/projects/${encodeURIComponent(block.projectId)}/locations/${encodeURIComponent(region)}`
  return {
    system: 'gcp.vertex_ai',
    host: platformHost(region),
    port: 443,
    pin: block.model,
    convert: (format, model, streamed) => {
      if (format === 'Embeddings') return predict(base, model)
      const messagesModel = messagesModelOf(model)
      if (messagesModel === undefined) return convertToChat(base, format, model)
      return convertToMessages(`${base}/publishers/anthropic/models`, format, messagesModel, streamed)
    },
    movesMaxTokens: false,
    cloud: 'cloudThree',
    headers: (request, credential) => ({ set: [], remove: competingKeys(request, credential, [KEY_FIELD]) }),
  }
}

/** The platform documents it in "Web search with Claude models". */
const WEB_SEARCH = 'web-search-2025-03-05'

/**
 * Beta features of the messages API that the platform takes. It refuses requests with others. It has no list of them: these are the ones that LiteLLM
 * sends to it (litellm/anthropic_beta_headers_config.json, `vertex_ai`, commit 030dd40a93c3).
 */
const BETAS: ReadonlySet<string> = new Set([
  'compact-2026-01-12',
  'compact-2026-09-04',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'dangerous-tool-use-2026-09-03',
  'interleaved-thinking-2025-05-14',
  'per-turn-control-2026-07-01',
  'thinking-binding-controls-2026-08-01',
  'thinking-display-updates-2026-08-18',
  'tool-search-tool-2025-10-19',
  WEB_SEARCH,
])

/** Token counts with web search are refused (anthropics/claude-code, issue 12429). */
const COUNT_BETAS = BETAS.difference(new Set([WEB_SEARCH]))

function platformHost(region: string): string {
  if (region === 'global') return 'aiplatform.googleapis.com'
  // Multi-region locations have separate hosts.
  if (region === 'us' || region === 'eu') return `aiplatform.${region}.rep.googleapis.com`
  return `${region}-aiplatform.googleapis.com`
}

/**
 * The platform's name of a model of the messages family: without its publisher, and with `@` before its date. Undefined for other models.
 */
function messagesModelOf(model: string): string | undefined {
  const name = /^(?:.*publishers\/anthropic\/models\/|anthropic\/|(?=claude-))(.*)$/.exec(model)?.[1]
  return name?.replace(/-(\d{8})$/, '@$1')
}

function convertToMessages(models: string, format: ClientFormat, model: string, streamed: boolean): Conversion {
  switch (format) {
    case 'MessagesTokenCount': {
      const edit = (body: Uint8Array) => editMessagesBody(body, { version: MESSAGES_VERSION, model })
      return { kind: 'send', dialect: 'count', path: `${models}/count-tokens:rawPredict`, edit, betas: COUNT_BETAS }
    }
    default: {
      const segment = toSegment(model)?.replace('%40', '@')
      if (segment === undefined) return MODEL_UNFIT
      const path = `${models}/${segment}:${streamed ? 'streamRawPredict' : 'rawPredict'}`
      return { kind: 'send', dialect: 'messages', path, edit: editChat, betas: BETAS }
    }
  }
}

/** A model of Google without the prefixes that its APIs have for it. */
function withoutPublisher(model: string): string {
  return model.replace(/^(?:.*publishers\/google\/models\/|models\/|google\/)/, '')
}

/** Whatever the model: the platform embeds with its prediction API. */
function predict(base: string, model: string): Conversion {
  const segment = toSegment(withoutPublisher(model))
  if (segment === undefined) return MODEL_UNFIT
  return { kind: 'send', dialect: 'predict', path: `${base}/publishers/google/models/${segment}:predict` }
}

function editChat(body: Uint8Array): Steps<Uint8Array> {
  return editMessagesBody(body, { version: MESSAGES_VERSION, model: undefined })
}

/** The endpoint for chat completions requires the publisher in the name of a model. */
function convertToChat(base: string, format: ClientFormat, model: string): Conversion {
  if (format === 'MessagesTokenCount') return COUNT
  const path = `${base}/endpoints/openapi/chat/completions`
  const name = withoutPublisher(model)
  if (!/^gemini[-@]/.test(name) || model === `google/${name}`) return { kind: 'send', dialect: 'completions', path }
  const edit = (body: Uint8Array) => replaceModel(body, `google/${name}`)
  return { kind: 'send', dialect: 'completions', path, edit }
}
