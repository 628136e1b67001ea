import { isBlank } from '../json/json-strings.ts'
import { asIs } from '../json/write-json.ts'
import type { ModelFacts, SamplingField } from '../models/models.ts'
import type { Sampled, Sampling } from './conversation.ts'
import type { Loops } from './loops.ts'
import type { Losses } from './losses.ts'

/** What strict providers take of the sampling fields. */
export interface AcceptedSampling {
  readonly temperature: number | undefined
  readonly topP: number | undefined
  readonly topK: number | undefined
}

/** Leaves out what the model refuses, and what only chat completions have. */
export function acceptedSampling(
  sampling: Sampling,
  facts: ModelFacts,
  isThinking: boolean,
  losses: Losses,
): AcceptedSampling {
  for (const unknown of [sampling.frequencyPenalty, sampling.presencePenalty, sampling.seed]) {
    if (unknown !== undefined) losses.drop(unknown)
  }
  const refused = isThinking ? [...facts.refused, ...facts.refusedWithThinking] : facts.refused
  const take = (name: SamplingField, value: Sampled | undefined): Sampled | undefined => {
    if (value === undefined || !refused.includes(name)) return value
    losses.drop(value, 'the model does not accept it')
    return undefined
  }
  const temperature = take('temperature', sampling.temperature)
  let topP = take('top_p', sampling.topP)
  const topK = take('top_k', sampling.topK)
  if (facts.hasOneTemperature && temperature !== undefined && topP !== undefined) {
    losses.drop(topP, 'the model accepts it only without a temperature')
    topP = undefined
  }
  return {
    temperature: temperature && writeTemperature(temperature, losses),
    topP: topP && asIs<number>(topP.json),
    topK: topK && asIs<number>(topK.json),
  }
}

/** Others take up to 2. */
function writeTemperature(temperature: Sampled, losses: Losses): number {
  if (temperature.number <= 1) return asIs<number>(temperature.json)
  losses.drop(temperature, 'sent as 1, the maximum of the provider')
  return 1
}

/** Strict providers refuse stop sequences of white space. */
export function acceptedStops(stop: readonly Sampled[], loops: Loops, losses: Losses): string[] {
  const written: string[] = []
  loops.each(stop, (sequence) => {
    if (isBlank(sequence.json)) losses.drop(sequence, 'only white space')
    else written.push(asIs<string>(sequence.json))
  })
  return written
}
