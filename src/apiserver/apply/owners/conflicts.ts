import { type FieldSet, hasField, intersection, isEmpty, pathsOf } from '../fields/field-set.ts'
import { describePath, type PathElement } from '../fields/path-element.ts'
import type { Owner, Owners } from './owners.ts'

/** A field that a manager would change by applying, and that another manager owns. */
export interface Conflict {
  readonly owner: Owner
  readonly path: readonly PathElement[]
}

/** The changed fields that managers other than the applying one own, by manager. */
export function conflictsOf(owners: Owners, applier: string, changed: FieldSet): readonly Conflict[] {
  const others = [...owners].filter(([id]) => id !== applier).sort(([a], [b]) => (a < b ? -1 : 1))
  return others.flatMap(([, owner]) => {
    const fields = intersection(owner.fields, changed)
    return isEmpty(fields) ? [] : pathsOf(fields).map((path) => ({ owner, path }))
  })
}

export function conflictsOutside(conflicts: readonly Conflict[], allowed: FieldSet): readonly Conflict[] {
  return conflicts.filter(({ path }) => !hasField(allowed, path))
}

/** The message of an API server, which `kubectl` prints. */
export function describeConflicts(conflicts: readonly Conflict[]): string {
  if (conflicts.length === 1) {
    const { owner, path } = conflicts[0]!
    return `Apply failed with 1 conflict: conflict with ${describeOwner(owner)}: ${describePath(path)}`
  }
  const lines: string[] = []
  let before: Owner | undefined
  for (const { owner, path } of conflicts) {
    if (owner !== before) lines.push(`conflicts with ${describeOwner(owner)}:`)
    lines.push(`- ${describePath(path)}`)
    before = owner
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

export function describeOwner({ manager, operation, apiVersion, subresource }: Owner): string {
  const name =
    JSON.stringify(manager) + (subresource === undefined ? '' : ` with subresource ${JSON.stringify(subresource)}`)
  return operation === 'Update' ? `${name} using ${apiVersion}` : name
}
