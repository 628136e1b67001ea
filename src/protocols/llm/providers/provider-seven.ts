import { rememberRecent } from '#base/remember-recent.ts'
import type { Head } from '#net/http/head.ts'
import {
  completeRequest,
  type Guardrail,
  requestBetas,
  requestMetadata,
} from '../dialects/converse/complete-request.ts'
import type { ProviderBlock } from '../settings/provider-schema.ts'
import type { ClientFormat } from '../settings/route-type.ts'
import { COUNT, type Conversion, MODEL_UNFIT, NO_EDITS, type Provider, toSegment } from './provider.ts'

/** Amazon Bedrock: every model has its own paths. Chats use Converse, embeddings the form of their model. */
export function buildProviderSeven(block: ProviderBlock<'providerSeven'>): Provider {
  const region = block.region ?? 'us-east-1'
  return {
    system: 'aws.bedrock',
    host: `bedrock-runtime.${region}.amazonaws.com`,
    port: 443,
    pin: block.model,
    convert: (format, model, streamed) => convert(block.guardrail, format, model, streamed),
    movesMaxTokens: false,
    cloud: 'cloudOne',
    signing: { service: 'bedrock', region },
    headers: () => NO_EDITS,
  }
}

/** The path of a model. Names are often ARNs, which contain slashes; colons stay. */
const pathOf = rememberRecent((model) => {
  const segment = toSegment(model)?.replaceAll('%3A', ':')
  return segment === undefined ? undefined : `/model/${segment}`
})

function convert(guardrail: Guardrail | undefined, format: ClientFormat, model: string, streamed: boolean): Conversion {
  const path = pathOf(model)
  if (path === undefined) return MODEL_UNFIT
  switch (format) {
    case 'Embeddings':
      return { kind: 'send', dialect: embeddingsDialect(model), path: `${path}/invoke` }
    case 'MessagesTokenCount':
      if (!model.includes('anthropic.claude')) return COUNT
      return { kind: 'send', dialect: 'count-by-invoking', path: `${path}/count-tokens` }
    default: {
      const complete = (body: object, request: Head) => {
        const betas = format === 'Messages' ? requestBetas(request, model) : []
        return completeRequest(body, guardrail, betas, requestMetadata(request))
      }
      const operation = streamed ? 'converse-stream' : 'converse'
      return { kind: 'send', dialect: 'converse', path: `${path}/${operation}`, complete }
    }
  }
}

function embeddingsDialect(model: string): 'nova' | 'cohere' | 'titan' {
  if (model.includes('nova')) return 'nova'
  return model.includes('cohere') ? 'cohere' : 'titan'
}
