import { proceed } from '#exchange/outcome.ts'
import type { Step } from '#exchange/step.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf, warnWithoutFallback } from '../../shared/choose.ts'
import { refuseExtAuth, unansweredExtAuth } from '../../shared/ext-auth/unanswered-ext-auth.ts'
import type { ExtAuthSection, ExtAuthSpec } from './schema.ts'

/**
 * The server cannot be asked yet: each item follows its failure mode. A condition that does not compile refuses (decision A-31):
 * whether the server would have to be asked is not known then.
 */
export function compileTrafficExtAuth(
  sources: readonly PolicySource<ExtAuthSection>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  const choices = compileChoices<ExtAuthSpec, Step>(source, context, (spec, path) =>
    unansweredExtAuth(source, path, spec, context),
  )
  warnWithoutFallback(source, choices, context, 'requests pass without external authorization')
  const conditions = conditionsOf(choices)
  if (conditions.some(({ broken }) => broken)) return { request: refuseExtAuth }
  return {
    request: (exchange) => choose(choices, exchange)?.(exchange) ?? proceed,
    readsRequestBody: readsRequestBody(conditions),
  }
}
