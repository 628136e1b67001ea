import { parseJson } from '#base/parse-json.ts'
import { decodeJson } from '../json/write-json.ts'
import { modelOf } from '../models/models.ts'
import { ArrangedTurns } from '../translation/arranged-turns.ts'
import type { Conversation, OutputFormat } from '../translation/conversation.ts'
import type { Target } from '../translation/dialect.ts'
import { JSON_ONLY } from '../translation/json-only.ts'
import type { Losses } from '../translation/losses.ts'
import { acceptedSampling, acceptedStops } from '../translation/sampling.ts'
import { CachePoints } from './cache-points.ts'
import { writeModelFields } from './model-fields.ts'
import type { ConverseRequest } from './wire.ts'
import { PartsWriter } from './write-parts.ts'
import { writeTools } from './write-tools.ts'
import { writeMessages, writeSystem } from './write-turns.ts'

/** Models of Amazon Bedrock have defaults that are either very low or very high. */
const DEFAULT_MAX_TOKENS = 4096

/** Where models that have stop sequences say which one they met. */
const STOP_SEQUENCE = '/stop_sequence'

/** Writes a request of the Converse API. */
export function writeRequest(conversation: Conversation, { names, caching }: Target, losses: Losses): ConverseRequest {
  const facts = modelOf(conversation.model)
  const maxTokens = conversation.maxTokens ?? DEFAULT_MAX_TOKENS
  const turns = new ArrangedTurns(conversation.turns, losses)
  const points = new CachePoints(conversation, facts, caching, losses)
  const parts = new PartsWriter(facts, names, losses)
  const model = writeModelFields(conversation, facts, maxTokens, turns.lacksThought, losses)
  const sampling = acceptedSampling(conversation.sampling, facts, model.isThinking, losses)
  const fields = { ...model.fields, ...model.topK(sampling.topK) }
  const toolConfig = writeTools(conversation, facts, names, points, losses)
  const system = writeSystem(turns.system, points)
  if (conversation.format?.kind === 'json') system.push({ text: JSON_ONLY })
  const messages = writeMessages(turns.list(facts.continuesTurn && !model.isThinking), parts, points)
  const stop = acceptedStops(conversation.stop, losses)
  const inference = {
    ...(model.takesMaxTokens && { maxTokens }),
    ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
    ...(sampling.topP !== undefined && { topP: sampling.topP }),
    ...(stop.length > 0 && { stopSequences: stop }),
  }
  const tier = writeTier(conversation, losses)
  return {
    ...(system.length > 0 && { system }),
    messages,
    ...(Object.keys(inference).length > 0 && { inferenceConfig: inference }),
    ...(toolConfig !== undefined && { toolConfig }),
    ...(conversation.format?.kind === 'schema' && { outputConfig: { textFormat: writeFormat(conversation.format) } }),
    ...(Object.keys(fields).length > 0 && { additionalModelRequestFields: fields }),
    ...(stop.length > 0 && { additionalModelResponseFieldPaths: [STOP_SEQUENCE] }),
    ...(tier !== undefined && { serviceTier: { type: tier } }),
  } satisfies ConverseRequest
}

type TextFormat = NonNullable<NonNullable<ConverseRequest['outputConfig']>['textFormat']>

/** The API takes the schema as text. */
function writeFormat({ schema, name, description }: OutputFormat & { readonly kind: 'schema' }): TextFormat {
  const definition = {
    schema: decodeJson(schema),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description: parseJson(decodeJson(description)) as string }),
  }
  return { type: 'json_schema', structure: { jsonSchema: definition } }
}

type Tier = NonNullable<NonNullable<ConverseRequest['serviceTier']>['type']>

const TIERS: readonly Tier[] = ['default', 'flex', 'priority', 'reserved']

function writeTier({ serviceTier }: Conversation, losses: Losses): Tier | undefined {
  if (serviceTier === undefined || serviceTier.name === 'auto') return undefined
  const tier = TIERS.find((each) => each === serviceTier.name)
  if (tier === undefined) losses.drop(serviceTier.origin)
  return tier
}
