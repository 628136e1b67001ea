import type { CompileContext, PolicySource } from '../../policy.ts'

/** A client of a port with PROXY headers can claim any address, unless rules restrict the clients (decision A-47). */
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
      'any client that can connect can set source.address with a PROXY header; allow only your load balancers, with a frontend.networkAuthorization rule on source.rawAddress',
  })
}
