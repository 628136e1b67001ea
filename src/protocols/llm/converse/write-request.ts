import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { decodeJson } from '../json/write-json.ts'
import { modelOf } from '../models/models.ts'
import { ArrangedTurns } from '../translation/arranged-turns.ts'
import type { Conversation, OutputFormat } from '../translation/conversation.ts'
import type { Target } from '../translation/dialect.ts'
import { JSON_ONLY } from '../translation/json-only.ts'
import { Loops } from '../translation/loops.ts'
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
export function* writeRequest(
  conversation: Conversation,
  { names, caching }: Target,
  losses: Losses,
): Steps<ConverseRequest> {
  const loops = new Loops()
  const facts = modelOf(conversation.model)
  const maxTokens = conversation.maxTokens ?? DEFAULT_MAX_TOKENS
  const turns = new ArrangedTurns(conversation.turns, loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  const points = new CachePoints(conversation, facts, caching, losses)
  const parts = new PartsWriter(facts, names, loops, losses)
  const model = writeModelFields(conversation, facts, maxTokens, turns.lacksThought, losses)
  const sampling = acceptedSampling(conversation.sampling, facts, model.isThinking, losses)
  const fields = sampling.topK === undefined ? model.fields : { ...model.fields, ...model.topK(sampling.topK) }
  // Tools, system texts and messages in this order, because cache points go to the first marks.
  const toolConfig = writeTools(conversation, facts, { names, points, loops, losses })
  const system = writeSystem(turns.system, points, loops)
  const messages = writeMessages(turns.list(facts.continuesTurn && !model.isThinking), parts, points, loops)
  const stop = acceptedStops(conversation.stop, loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  if (conversation.format?.kind === 'json') system.push({ text: JSON_ONLY })
  const { format } = conversation
  const tier = writeTier(conversation, losses)
  // Absent members are undefined: spreading each of them in takes more time than all the rest.
  return {
    system: filled(system),
    messages,
    inferenceConfig: unlessEmpty({
      maxTokens: model.takesMaxTokens ? maxTokens : undefined,
      temperature: sampling.temperature,
      topP: sampling.topP,
      stopSequences: filled(stop),
    }),
    toolConfig,
    outputConfig: format?.kind === 'schema' ? { textFormat: writeFormat(format) } : undefined,
    additionalModelRequestFields: unlessEmpty(fields),
    additionalModelResponseFieldPaths: stop.length > 0 ? [STOP_SEQUENCE] : undefined,
    serviceTier: tier && { type: tier },
  } satisfies ConverseRequest
}

function filled<Element>(list: Element[]): Element[] | undefined {
  return list.length > 0 ? list : undefined
}

/** The object, if it has a member. */
function unlessEmpty<Members extends object>(members: Members): Members | undefined {
  return Object.values(members).some((value) => value !== undefined) ? members : undefined
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
