import type { PolicyItem } from '#plan/item.ts'
import { POLICIES } from '#policies/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import { compileSetting, mergeSection, toSource } from './build-chain.ts'
import type { Lookups } from './lookups.ts'

/** Whoever reaches a port that reads PROXY headers can claim any address, unless rules say who may (decision A-47). */
export function adviseRawAddress(
  policy: PolicyItem,
  lookups: Lookups,
  contexts: { readonly said: CompileContext; readonly silent: CompileContext },
): void {
  const fields = mergeSection({ section: 'frontend', phase: undefined, targets: [policy.target] }, lookups)
  const rules = compileSetting(POLICIES.frontend.networkAuthorization, fields, contexts.silent)
  if (rules?.readsRawAddress === true) return
  contexts.said.report(toSource(policy), '', {
    severity: 'warning',
    code: 'proxy-protocol-unrestricted',
    message:
      'anybody who can connect may claim any source.address; allow only your balancers with a frontend.networkAuthorization on source.rawAddress',
  })
}
