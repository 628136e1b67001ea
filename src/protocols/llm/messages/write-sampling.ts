import type { Sampled, Sampling } from '../conversation.ts'
import { asIs } from '../json/write-json.ts'
import type { Losses } from '../losses.ts'
import type { MessagesModel } from './model-facts.ts'
import type { MessagesRequest } from './write-request.ts'

type Written = Pick<MessagesRequest, 'temperature' | 'top_p' | 'top_k'>

/** What the model takes of the sampling fields. While it thinks, it takes none. */
export function writeSampling(sampling: Sampling, facts: MessagesModel, isThinking: boolean, losses: Losses): Written {
  dropAll([sampling.frequencyPenalty, sampling.presencePenalty, sampling.seed], undefined, losses)
  const { temperature, topP, topK } = sampling
  if (facts.refusesSampling || isThinking) {
    const why = isThinking ? 'the model thinks' : 'the model refuses it'
    dropAll([temperature, topP, topK], why, losses)
    return {}
  }
  const isSecond = facts.takesOneSampling && temperature !== undefined
  if (isSecond) dropAll([topP], 'the model takes it only without a temperature', losses)
  return {
    ...(temperature !== undefined && { temperature: writeTemperature(temperature, losses) }),
    ...(topP !== undefined && !isSecond && { top_p: asIs<number>(topP.json) }),
    ...(topK !== undefined && { top_k: asIs<number>(topK.json) }),
  }
}

/** Others take up to 2. */
function writeTemperature(temperature: Sampled, losses: Losses): number {
  if (temperature.number <= 1) return asIs<number>(temperature.json)
  losses.drop(temperature, 'written as 1, the most that the provider takes')
  return 1
}

function dropAll(values: readonly (Sampled | undefined)[], why: string | undefined, losses: Losses): void {
  for (const value of values) if (value !== undefined) losses.drop(value, why)
}
