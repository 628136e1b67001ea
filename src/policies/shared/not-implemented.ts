import type { CompileContext, PolicySource } from '../policy.ts'

/** Says loudly that a part of a policy has no effect in this version; `effect` says what happens instead. */
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
