import { keyOf } from '#api/object.ts'
import type { BackendRef } from '#plan/backend-key.ts'
import type { Attachment, PolicyItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import type { ConditionFault } from '../context/condition.ts'
import type { Report } from '../context/reporting.ts'
import type { TranslationContext } from '../context/translation-context.ts'
import type { Use } from '../context/use.ts'
import { reportUnusedPort, resolveBackend } from '../references/resolve-backend.ts'
import type { RuleFault } from './check-rules.ts'
import type { RouteObject } from './route-object.ts'

/** The state of the translation of one route; each rule adds to it. */
export interface Progress<R extends RouteObject = RouteObject> {
  readonly context: TranslationContext
  readonly object: R
  readonly attachments: readonly Attachment[]
  readonly report: Report
  readonly items: (RouteItem | RelayRouteItem | PolicyItem)[]
  readonly uses: Use[]
  readonly accepted: ConditionFault[]
  readonly resolvedRefs: ConditionFault[]
}

/** The common members of all route items. */
export function ruleItem<R extends RouteObject>(
  { object, attachments }: Progress<R>,
  { name: ruleName }: { readonly name?: string | undefined },
  index: number,
) {
  const { namespace, name, creationTimestamp } = object.metadata
  return {
    key: `${keyOf(object)}/${index}`,
    route: { kind: object.kind as R['kind'], namespace, name },
    rule: index,
    ruleName,
    created: creationTimestamp ?? '',
    attachments,
    origin: object.origin,
  }
}

/** Reports faults of rules, which make the route not accepted. */
export function reportFaults(progress: Progress, faults: readonly RuleFault[]): void {
  for (const { path, code, reason, message } of faults) {
    progress.report({ path, code, message, severity: 'error' })
    progress.accepted.push({ reason, message: `${path}: ${message}` })
  }
}

/** The source of a reference: its field path, and the policy target that contains it. */
export interface ReferenceSource {
  readonly path: string
  readonly target: string
}

/** Resolves a reference to a backend. @returns the key of the backend; undefined after a fault was reported */
export function useBackend(progress: Progress, ref: BackendRef, { path, target }: ReferenceSource): string | undefined {
  const { key, fault } = resolveBackend(progress.context, progress.object, ref)
  if (fault === undefined && key !== undefined) {
    progress.uses.push({ from: target, to: key })
    reportUnusedPort(progress.report, ref, path)
    return key
  }
  if (fault !== undefined) {
    const { code, reason, message, field } = fault
    progress.report({ path: `${path}${field}`, code, message, severity: 'error' })
    progress.resolvedRefs.push({ reason, message })
  }
  return undefined
}
