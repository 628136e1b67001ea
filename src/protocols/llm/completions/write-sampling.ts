import { asIs } from '../json/write-json.ts'
import type { SamplingField } from '../models/models.ts'
import type { Conversation, Effort, Sampled } from '../translation/conversation.ts'
import type { Losses } from '../translation/losses.ts'
import type { TargetModel } from './target-model.ts'

/** More are refused. */
const MAX_STOPS = 4

type Sampling = { [Field in 'temperature' | 'top_p' | 'frequency_penalty' | 'presence_penalty' | 'seed']?: number }

export function writeSampling(
  { sampling }: Conversation,
  target: TargetModel,
  effort: Effort | undefined,
  losses: Losses,
): Sampling {
  const refused = refusedFields(target, effort)
  const written: Sampling = {}
  const fields: readonly (readonly [keyof Sampling, Sampled | undefined])[] = [
    ['temperature', sampling.temperature],
    ['top_p', sampling.topP],
    ['frequency_penalty', sampling.frequencyPenalty],
    ['presence_penalty', sampling.presencePenalty],
    ['seed', sampling.seed],
  ]
  for (const [name, value] of fields) {
    if (value === undefined) continue
    if (refused.has(name)) losses.drop(value, 'the model refuses it')
    else written[name] = asIs<number>(value.json)
  }
  if (sampling.topK !== undefined) losses.drop(sampling.topK)
  return written
}

export function writeStop({ stop }: Conversation, { facts }: TargetModel, losses: Losses): { stop?: string[] } {
  const accepted = facts.refused.includes('stop') ? 0 : MAX_STOPS
  for (const each of stop.slice(accepted)) losses.drop(each)
  const written = stop.slice(0, accepted).map(({ json }) => asIs<string>(json))
  return written.length === 0 ? {} : { stop: written }
}

function refusedFields({ facts }: TargetModel, effort: Effort | undefined): ReadonlySet<string> {
  const thinks = effort !== undefined && effort !== 'none'
  const refused: readonly SamplingField[] = thinks ? [...facts.refused, ...facts.refusedWithThinking] : facts.refused
  return new Set<string>(refused)
}
