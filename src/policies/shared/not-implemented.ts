import type { CompileContext, PolicySource } from '../policy.ts'

/** Reports that a part of a policy is not implemented; `effect` describes the result. */
export function reportNotImplemented(
  context: CompileContext,
  source: PolicySource<unknown>,
  path: string,
  effect: string,
): void {
  context.report(source, path, {
    severity: 'error',
    code: 'not-implemented',
    message: `not implemented yet: ${effect}`,
  })
}
