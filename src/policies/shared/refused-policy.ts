import { describeOrigin, type Origin } from '#base/origin.ts'
import { type Refusal, reject } from '#exchange/outcome.ts'
import { defineFilter, type PolicySource, type RequestRun } from '../policy.ts'

/**
 * Stands for a policy that protects its targets and is invalid: they refuse everything until it is valid (decision A-09). The control plane
 * sets it; no object has this field.
 */
export const refusedPolicy = defineFilter({
  field: 'refusedPolicy',
  writtenAs: 'refused policy, whose targets refuse everything',
  merge: 'replace',
  compile([source]: readonly PolicySource<unknown>[]): RequestRun | undefined {
    if (source === undefined) return undefined
    const refusal = refuseForPolicy(source.origin)
    return { request: () => refusal }
  },
})

/** The refusal of everything at the targets of an invalid policy. The policy reports its errors itself. */
export function refuseForPolicy({ kind, namespace, name }: Origin): Refusal {
  const policy = describeOrigin({ kind, namespace, name })
  return reject('policy-invalid', { detail: `${policy} has errors and no earlier valid version` })
}
