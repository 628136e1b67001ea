import { proceed } from '#exchange/outcome.ts'
import type { Step } from '#exchange/step.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf, warnWithoutFallback } from '../../shared/choose.ts'
import { refuseExtAuth, unimplementedExtAuth } from '../../shared/ext-auth/unimplemented-ext-auth.ts'
import type { ExtAuthSection, ExtAuthSpec } from './schema.ts'

/**
 * External authorization is not implemented yet: every item refuses (decision A-36). A condition that does not compile refuses, too (decision
 * A-31), because it is unknown whether the item applies.
 */
export function compileTrafficExtAuth(
  sources: readonly PolicySource<ExtAuthSection>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  const choices = compileChoices<ExtAuthSpec, Step>(source, context, (_, path) =>
    unimplementedExtAuth(source, path, context),
  )
  warnWithoutFallback(source, choices, context, 'requests pass without external authorization')
  const conditions = conditionsOf(choices)
  if (conditions.some(({ broken }) => broken)) return { request: refuseExtAuth }
  return {
    request: (exchange) => choose(choices, exchange)?.(exchange) ?? proceed,
    readsRequestBody: readsRequestBody(conditions),
  }
}
