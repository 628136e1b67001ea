import { keyOf } from '#api/object.ts'
import type { BackendRef } from '#plan/backend-key.ts'
import type { Attachment, PolicyItem, RelayRouteItem, RouteItem } from '#plan/item.ts'
import { resolveBackend } from '../references/resolve-backend.ts'
import type { Report } from '../reporting.ts'
import type { Complaint } from '../status/condition.ts'
import type { TranslationContext } from '../translation-context.ts'
import type { Use } from '../use.ts'
import type { RouteObject } from './attach-route.ts'

/** One translation of one route, filled rule by rule. */
export interface Progress<R extends RouteObject = RouteObject> {
  readonly context: TranslationContext
  readonly object: R
  readonly attachments: readonly Attachment[]
  readonly report: Report
  readonly items: (RouteItem | RelayRouteItem | PolicyItem)[]
  readonly uses: Use[]
  readonly accepted: Complaint[]
  readonly resolvedRefs: Complaint[]
}

/** What the items of all rules have in common. */
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

/** A reference: its path, and the place that it is made from. */
export interface At {
  readonly path: string
  readonly target: string
}

/** @returns the key of the backend, or undefined after complaining */
export function useBackend(progress: Progress, ref: BackendRef, { path, target }: At): string | undefined {
  const { key, fault } = resolveBackend(progress.context, progress.object, ref)
  if (fault === undefined && key !== undefined) {
    progress.uses.push({ from: target, to: key })
    return key
  }
  if (fault !== undefined) {
    const { code, reason, message, field } = fault
    progress.report({ path: `${path}${field}`, code, message, severity: 'error' })
    progress.resolvedRefs.push({ reason, message })
  }
  return undefined
}
