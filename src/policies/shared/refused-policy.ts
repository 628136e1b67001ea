import { describeOrigin } from '#base/origin.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { defineFilter, type PolicySource, type RequestRun } from '../policy.ts'

/**
 * Stands for a policy that protects its targets and is invalid: they refuse everything until it is valid (decision A-09). The control plane
 * sets it, and a proxy for what is of another version; no object has this field.
 */
export const refusedPolicy = defineFilter({
  field: 'refusedPolicy',
  writtenAs: 'refused policy, whose targets refuse everything',
  merge: 'replace',
  compile([source]: readonly PolicySource<unknown>[]): RequestRun | undefined {
    if (source === undefined) return undefined
    const refusal = refuseForPolicy(source)
    return { request: () => refusal }
  },
})

type Refused = Pick<PolicySource<unknown>, 'origin' | 'broken'>

/** The refusal of everything at the targets of such a policy. The policy reports its errors itself. */
export function refuseForPolicy({ origin, broken = 'has errors and no earlier valid version' }: Refused): Refusal {
  const { kind, namespace, name } = origin
  return reject('policy-invalid', { detail: `${describeOrigin({ kind, namespace, name })} ${broken}` })
}
