import type { Steps } from '#base/in-slices.ts'
import { parseJson } from '#base/parse-json.ts'
import { type ArrangedTurn, ArrangedTurns } from '../../chat/arranged-turns.ts'
import { closedFormat } from '../../chat/closed-schemas.ts'
import type { Conversation, Part, SchemaFormat, TextPart } from '../../chat/conversation.ts'
import type { Target } from '../../chat/dialect.ts'
import { JSON_ONLY } from '../../chat/json-schemas.ts'
import { Loops } from '../../chat/loops.ts'
import type { Losses } from '../../chat/losses.ts'
import { acceptedSampling, acceptedStops } from '../../chat/sampling.ts'
import { asIs, decodeJson } from '../../json/write-json.ts'
import { modelOf } from '../../models/models.ts'
import { CachePoints } from './cache-points.ts'
import { writeModelFields } from './model-fields.ts'
import type { ContentBlock, ConverseRequest, SystemBlock } from './wire.ts'
import { PartsWriter } from './write-parts.ts'
import { writeTools } from './write-tools.ts'

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
  const maxTokens = conversation.maxTokens ?? facts.maxOutputTokens ?? Number.POSITIVE_INFINITY
  const turns = new ArrangedTurns(conversation.turns, loops, losses)
  if (loops.areWaiting) yield* loops.rest()
  const points = new CachePoints(conversation, facts, caching, losses)
  const parts = new PartsWriter(facts, names, loops, losses)
  const model = writeModelFields(conversation, facts, maxTokens, turns.lacksThought, losses)
  const sampling = acceptedSampling(conversation.sampling, facts, model.isThinking, losses)
  const fields = sampling.topK === undefined ? model.fields : { ...model.fields, ...model.topK(sampling.topK) }
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
      maxTokens: model.takesMaxTokens ? conversation.maxTokens : undefined,
      temperature: sampling.temperature,
      topP: sampling.topP,
      stopSequences: filled(stop),
    }),
    toolConfig,
    outputConfig: format?.kind === 'schema' ? { textFormat: writeFormat(format, losses) } : undefined,
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
function writeFormat(format: SchemaFormat, losses: Losses): TextFormat {
  const { name, description } = format
  const definition = {
    schema: JSON.stringify(closedFormat(format, losses)),
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

type Message = NonNullable<ConverseRequest['messages']>[number]

function writeSystem(texts: readonly TextPart[], points: CachePoints, loops: Loops): SystemBlock[] {
  const blocks: SystemBlock[] = []
  loops.each(texts, (text) => {
    blocks.push({ text: asIs<string>(text.text) })
    points.mark(blocks, text)
  })
  loops.after(() => {
    if (blocks.length > 0) points.addToSystem(blocks)
  })
  return blocks
}

function writeMessages(
  turns: readonly ArrangedTurn[],
  parts: PartsWriter,
  points: CachePoints,
  loops: Loops,
): Message[] {
  const messages: (Message & { readonly content: ContentBlock[] })[] = []
  loops.each(turns, ({ role, parts: given, added }) => {
    const content: ContentBlock[] = added === undefined ? [] : [{ text: added }]
    // The API refuses documents without a text.
    if (has(given, 'file') && !has(given, 'text')) content.push({ text: '...' })
    messages.push({ role, content })
    loops.each(given, (part) => {
      content.push(parts.write(part, role))
      points.mark(content, part)
    })
  })
  loops.after(() => points.addToMessages(messages))
  return messages
}

function has(parts: ArrangedTurn['parts'], wanted: Part['kind']): boolean {
  return parts.some(({ kind }) => kind === wanted)
}
