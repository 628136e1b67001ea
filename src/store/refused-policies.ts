import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { RefusedRoute } from '#api/refused-route.ts'
import type { FindingCode } from '#base/findings.ts'
import { describeOrigin } from '#base/origin.ts'
import { problem } from '#schema/index.ts'
import type { FileProblem } from './file-problem.ts'
import type { LoadedFile } from './loaded-file.ts'

/** Codes of problems because of which it is unknown what has to be protected. A gateway does not become ready with them (decision A-09). */
export const UNKNOWN_PROTECTION: ReadonlySet<FindingCode> = new Set([
  'policy-targets-unknown',
  'route-matches-unknown',
  'file-never-valid',
])

/** Codes of problems that follow from the errors of an object or file. Each is listed after these errors. */
export const CONSEQUENCES: ReadonlySet<FindingCode> = new Set([
  ...UNKNOWN_PROTECTION,
  'policy-not-applied',
  'policy-refuses',
])

/** What happens because of the invalid policies and routes of a file, which their errors alone do not say. The control plane reports the targets that refuse. */
export function* describeRefused(
  file: Pick<LoadedFile, 'problems' | 'isKnown'>,
  policies: readonly RefusedPolicy[],
  routes: readonly RefusedRoute[],
): Generator<FileProblem> {
  const { problems, isKnown } = file
  const last = problems.at(-1)
  if (!isKnown && last !== undefined) {
    const message =
      'no version of this file was valid, so its policies cannot be loaded; a gateway that starts with it does not become ready'
    yield { ...last, ...problem('', 'file-never-valid', message) }
  }
  for (const policy of policies) {
    const cause = causeOf(file, policy)
    const found = describePolicy(describeOrigin(policy.origin), policy)
    if (cause !== undefined && found !== undefined) yield { ...cause, object: describeOrigin(policy.origin), ...found }
  }
  for (const route of routes) {
    const cause = causeOf(file, route)
    const message = `not all requests that ${describeOrigin(route.origin)} matches are known because of its errors, so routes with other policies may serve them; a gateway that starts with it does not become ready`
    if (cause === undefined || route.isComplete) continue
    yield { ...cause, object: describeOrigin(route.origin), ...problem('', 'route-matches-unknown', message) }
  }
}

/** The last error of an invalid policy or route: what follows from its errors is reported at the same place, after them. */
export function causeOf(
  { problems }: Pick<LoadedFile, 'problems'>,
  { origin }: Pick<RefusedPolicy, 'origin'>,
): FileProblem | undefined {
  const object = describeOrigin(origin)
  const errors = problems.filter(({ severity }) => severity === 'error').toSorted(byPosition)
  return errors.findLast((each) => each.object === object) ?? errors.findLast((each) => each.object === undefined)
}

function byPosition(a: FileProblem, b: FileProblem): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}

function describePolicy(
  policy: string,
  { protects, targetsKnown }: RefusedPolicy,
): ReturnType<typeof problem> | undefined {
  if (protects.length === 0) {
    return problem('', 'policy-not-applied', `${policy} is not applied; its targets are served without it`, 'warning')
  }
  if (targetsKnown) return undefined
  const message = `not all targets of ${policy} are known because of its errors, and ${protects.join(', ')} may protect them; a gateway that starts with it does not become ready`
  return problem('', 'policy-targets-unknown', message)
}
