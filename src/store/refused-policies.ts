import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { FindingCode } from '#base/findings.ts'
import { problem } from '#schema/index.ts'
import type { FileProblem } from './file-problem.ts'
import type { LoadedFile } from './loaded-file.ts'

/** Codes of problems because of which it is unknown what has to be protected. A gateway does not become ready with them (decision A-09). */
export const UNKNOWN_PROTECTION: ReadonlySet<FindingCode> = new Set(['policy-targets-unknown', 'file-never-valid'])

/** What happens because of the invalid policies of a file, which their errors alone do not say. */
export function* describeRefused(file: LoadedFile, policies: readonly RefusedPolicy[]): Generator<FileProblem> {
  const { problems, isKnown } = file
  const [first] = problems
  if (!isKnown && first !== undefined) {
    const message =
      'no version of this file was valid, so its policies are unknown; a gateway that starts with it does not become ready'
    yield { ...first, ...problem('', 'file-never-valid', message) }
  }
  for (const policy of policies) {
    const { kind, namespace, name } = policy.origin
    const object = `${kind} ${namespace}/${name}`
    const cause =
      problems.find((each) => each.object === object && each.severity === 'error') ??
      problems.find((each) => each.object === undefined && each.severity === 'error')
    if (cause !== undefined) yield { ...cause, object, ...describePolicy(object, policy) }
  }
}

function describePolicy(policy: string, { protects, targetsKnown }: RefusedPolicy): ReturnType<typeof problem> {
  if (protects.length === 0) {
    return problem('', 'policy-not-applied', `${policy} is not applied; its targets are served without it`, 'warning')
  }
  const why = `${protects.join(', ')} may protect them`
  if (targetsKnown) {
    return problem(
      '',
      'policy-refuses',
      `${policy} is not valid; its targets refuse all requests until it is: ${why}`,
      'warning',
    )
  }
  const message = `the targets of ${policy} cannot be read, and ${why}; a gateway that starts with it does not become ready`
  return problem('', 'policy-targets-unknown', message)
}
