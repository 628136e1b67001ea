import { proceed } from '#exchange/outcome.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { readsRequestBody } from '../../shared/body-use.ts'
import { choose, compileChoices, conditionsOf } from '../../shared/choose.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import { refuseUnimplemented } from '../../shared/refuse-unimplemented.ts'
import type { ExtProcSection, ExtProcSpec } from './schema.ts'

const refuse = refuseUnimplemented('ext-proc-failed', 'extProc')

/** External processing is not implemented yet. It has no failure mode, so requests that need it are refused (decision A-78). */
export function compileExtProc(sources: readonly PolicySource<ExtProcSection>[], context: CompileContext): PolicyRun {
  const source = sources[0]!
  const choices = compileChoices<ExtProcSpec, typeof refuse>(source, context, (_, path) => {
    reportNotImplemented(context, source, path, 'requests are refused')
    return refuse
  })
  return {
    request: (exchange) => choose(choices, exchange)?.() ?? proceed,
    readsRequestBody: readsRequestBody(conditionsOf(choices)),
  }
}
