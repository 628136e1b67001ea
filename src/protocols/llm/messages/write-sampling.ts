import type { Sampled, Sampling } from '../conversation.ts'
import { asIs } from '../json/write-json.ts'
import type { Losses } from '../losses.ts'
import type { ModelFacts, SamplingField } from '../models.ts'

/** The published types leave these out, because newer models refuse them. */
export interface WrittenSampling {
  temperature?: number
  top_p?: number
  top_k?: number
}

/** What the model takes of the sampling fields. */
export function writeSampling(
  sampling: Sampling,
  facts: ModelFacts,
  isThinking: boolean,
  losses: Losses,
): WrittenSampling {
  for (const unknown of [sampling.frequencyPenalty, sampling.presencePenalty, sampling.seed]) {
    if (unknown !== undefined) losses.drop(unknown)
  }
  const refused = isThinking ? [...facts.refused, ...facts.refusedWithThinking] : facts.refused
  const take = (name: SamplingField, value: Sampled | undefined): Sampled | undefined => {
    if (value === undefined || !refused.includes(name)) return value
    losses.drop(value, 'the model refuses it')
    return undefined
  }
  const temperature = take('temperature', sampling.temperature)
  let topP = take('top_p', sampling.topP)
  const topK = take('top_k', sampling.topK)
  if (facts.hasOneTemperature && temperature !== undefined && topP !== undefined) {
    losses.drop(topP, 'the model takes it only without a temperature')
    topP = undefined
  }
  return {
    ...(temperature !== undefined && { temperature: writeTemperature(temperature, losses) }),
    ...(topP !== undefined && { top_p: asIs<number>(topP.json) }),
    ...(topK !== undefined && { top_k: asIs<number>(topK.json) }),
  }
}

/** Others take up to 2. */
function writeTemperature(temperature: Sampled, losses: Losses): number {
  if (temperature.number <= 1) return asIs<number>(temperature.json)
  losses.drop(temperature, 'written as 1, the most that the provider takes')
  return 1
}
