import { strongestUse } from '#exchange/body-use.ts'
import type { Exchange } from '#exchange/exchange.ts'
import { ExchangeSlot } from '#exchange/exchange-slot.ts'
import { joinLlmReads } from '#exchange/llm-reads.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { type Choice, choose, compileChoices, conditionsOf } from '../../shared/choose.ts'
import { runTransformation } from '../../shared/transformation/run-transformation.ts'
import {
  compileTransformation,
  type Transformation,
  transformRequest,
  transformResponse,
} from '../../shared/transformation/transform.ts'
import type { TransformationSection, TransformationSpec } from './schema.ts'

export function compileTrafficTransformation(
  sources: readonly PolicySource<TransformationSection>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  const choices = compileChoices<TransformationSpec, Transformation>(source, context, (spec, path) =>
    compileTransformation(source, path, spec, context),
  )
  const [only] = choices
  if (only !== undefined && only.condition === undefined) return runTransformation(only.policy)
  return runChosen(choices)
}

/**
 * Selects the item once, on the request; the response uses the same item (docs/behaviour/http.md, "Response policies"). If an earlier policy refused
 * the request, it is selected for the response.
 */
function runChosen(choices: readonly Choice<Transformation>[]): PolicyRun {
  const slot = new ExchangeSlot<{ readonly chosen: Transformation | undefined } | undefined>(undefined)
  const select = (exchange: Exchange): Transformation | undefined => {
    const chosen = choose(choices, exchange)
    exchange.slots.set(slot, { chosen })
    return chosen
  }
  return {
    request(exchange) {
      const transform = select(exchange)?.request
      return transform === undefined ? undefined : transformRequest(transform, exchange)
    },
    response(exchange) {
      const selected = exchange.slots.get(slot)
      const transform = (selected === undefined ? select(exchange) : selected.chosen)?.response
      return transform === undefined ? undefined : transformResponse(transform, exchange)
    },
    readsRequestBody: strongestUse([
      readsRequestBody(conditionsOf(choices)),
      ...choices.map(({ policy }) => policy.readsRequestBody),
    ]),
    readsResponseBody: strongestUse(choices.map(({ policy }) => policy.readsResponseBody)),
    llmReads: joinLlmReads(choices.map(({ policy }) => policy.llmReads)),
    fields: {
      request: choices.flatMap(({ policy }) => policy.fields.request),
      response: choices.flatMap(({ policy }) => policy.fields.response),
    },
  }
}
