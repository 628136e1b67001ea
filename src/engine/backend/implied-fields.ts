import type { BackendItem, PolicyItem } from '#plan/item.ts'
import { impliedAuth } from '#policies/backend/auth/implied-auth.ts'
import type { Address } from '#protocols/address.ts'
import type { MergedField } from '../merge/merge.ts'
import { bindProtocol } from './bind-protocol.ts'

/** Fields of section `backend` that apply to an address unless a policy sets them: `auth` of providers in their own cloud (decision B12). */
export function impliedFields(item: BackendItem, { ambient }: Address): readonly MergedField[] {
  if (ambient === undefined) return []
  const { origin, path, target } = bindProtocol(item).backend
  const source: PolicyItem<'backend'> = {
    kind: 'policy',
    key: `Policy/${target}/backend/auth/implied`,
    section: 'backend',
    phase: undefined,
    field: 'auth',
    target,
    level: 'Backend',
    spec: impliedAuth(ambient),
    origin,
    path,
    created: '',
  }
  return [{ field: 'auth', sources: [source], overridden: [] }]
}
