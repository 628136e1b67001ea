import type { CompileContext, PolicySource } from '../../policy.ts'

/** Whoever reaches a port that reads PROXY headers can claim any address, unless rules say who may (decision A-47). */
export function adviseRawAddress(
  source: PolicySource<unknown>,
  rules: { readonly readsRawAddress: boolean } | undefined,
  context: CompileContext,
): void {
  if (rules?.readsRawAddress === true) return
  context.report(source, '', {
    severity: 'warning',
    code: 'proxy-protocol-unrestricted',
    message:
      'anybody who can connect may claim any source.address; allow only your balancers with a frontend.networkAuthorization on source.rawAddress',
  })
}
