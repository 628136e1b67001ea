import { sameData } from '#base/incremental/same-data.ts'
import type { PatchFailure } from '#patch/patched.ts'
import { checkFields } from './fields/check-fields.ts'
import { compareFields } from './fields/compare-fields.ts'
import { difference, equalSets, type FieldSet, isEmpty, union } from './fields/field-set.ts'
import type { FieldType } from './fields/field-type.ts'
import { fieldsOf } from './fields/fields-of.ts'
import { isMembers, type Members } from './fields/members.ts'
import { mergeFields } from './fields/merge-fields.ts'
import { objectTypeOf } from './fields/object-type.ts'
import { describePath } from './fields/path-element.ts'
import { fieldsOfLastApplied, KUBECTL, withLastApplied } from './last-applied.ts'
import { type FieldWrite, ownersAfterUpdate } from './managed-fields.ts'
import { type Conflict, conflictsOf, conflictsOutside, describeConflicts, describeOwner } from './owners/conflicts.ts'
import { fitToType } from './owners/fit-to-type.ts'
import { withoutServerFields, writableFields } from './owners/owned-part.ts'
import {
  metadataOf,
  type Owner,
  type Owners,
  ownerId,
  readOwners,
  withOwners,
  withoutFields,
  withoutOwners,
} from './owners/owners.ts'
import { prune } from './owners/prune.ts'

/** A request to apply configuration. */
export interface ApplyWrite extends FieldWrite {
  /** Takes fields over that others own. */
  readonly force: boolean
}

/** The object after configuration was applied to it, or why it was not. */
export type ApplyOutcome =
  | { readonly object: Members; readonly conflicts?: never; readonly failure?: never }
  | { readonly object?: never; readonly conflicts: ApplyConflicts; readonly failure?: never }
  | { readonly object?: never; readonly conflicts?: never; readonly failure: PatchFailure }

/** For a `Status` with reason Conflict: its message and causes. */
export interface ApplyConflicts {
  readonly message: string
  readonly causes: readonly {
    readonly reason: 'FieldManagerConflict'
    /** `conflict with "kubectl-client-side-apply" using v1` */
    readonly message: string
    /** `.spec.replicas` */
    readonly field: string
  }[]
}

/** The manager of the fields of an object that had no managers when it was first applied to. */
const BEFORE_FIRST_APPLY = 'before-first-apply'

/**
 * Applies configuration to an object (Kubernetes, "Server-Side Apply"). Fields that the manager applied before and does not apply any more are
 * removed, unless another manager owns them. The object is not yet validated and has no new defaults.
 *
 * @param live undefined: the object does not exist, and is created
 */
export function applyConfiguration(live: Members | undefined, applied: unknown, write: ApplyWrite): ApplyOutcome {
  const type = objectTypeOf(write.schema)
  const failure = refusalOf(type, applied, write)
  if (failure !== undefined) return { failure }
  const configuration = applied as Members
  const before = live ?? { apiVersion: configuration.apiVersion, kind: configuration.kind }
  const outcome = applyAs(type, before, configuration, write)
  if (!('conflicts' in outcome)) return { object: outcome.object }
  const allowed = write.manager === KUBECTL ? fieldsOfLastApplied(type, before, write.apiVersion) : undefined
  const conflicts = allowed === undefined ? outcome.conflicts : conflictsOutside(outcome.conflicts, allowed)
  if (conflicts.length > 0) return { conflicts: describe(conflicts) }
  return applyConfiguration(live, applied, { ...write, force: true })
}

function refusalOf(type: FieldType, applied: unknown, { apiVersion }: ApplyWrite): PatchFailure | undefined {
  if (!isMembers(applied))
    return { reason: 'BadRequest', message: 'error decoding patch: applied configuration is an object' }
  const { managedFields, name = '', namespace = '' } = metadataOf(applied)
  if (managedFields !== undefined && managedFields !== null) {
    return { reason: 'BadRequest', message: 'metadata.managedFields must be nil' }
  }
  if (applied.apiVersion !== apiVersion) {
    const versions = `Specified patch version: ${String(applied.apiVersion)}, expected: ${apiVersion}`
    return { reason: 'BadRequest', message: `Incorrect version specified in apply patch. ${versions}` }
  }
  const problems = checkFields(type, applied)
  if (problems.length === 0) return undefined
  const list = problems.length === 1 ? problems[0] : ['errors:', ...problems.map((text) => `  ${text}`)].join('\n')
  const object = `${String(namespace)}/${String(name)}; ${apiVersion}, Kind=${String(applied.kind)}`
  return { reason: 'BadRequest', message: `failed to create typed patch object (${object}): ${list}` }
}

function applyAs(
  type: FieldType,
  live: Members,
  applied: Members,
  write: ApplyWrite,
): { readonly object: Members } | { readonly conflicts: readonly Conflict[] } {
  const { manager, apiVersion, subresource, now, force } = write
  const stored = withoutOwners(live)
  const owners = ownersBefore(type, live, write)
  const place = subresource === undefined ? {} : { subresource }
  const identity = { manager: manager || 'unknown', operation: 'Apply', apiVersion, ...place } as const
  const id = ownerId(identity)
  const last = owners.get(id)
  const own: Owner = { ...identity, ...timeOf(last), fields: writableFields(fieldsOf(type, applied), write) }
  owners.set(id, own)
  const merged = mergeFields(type, stored, applied)
  const isComplete = last === undefined || isEmpty(difference(last.fields, own.fields))
  const next = isComplete ? { object: merged, compared: merged } : prune(type, merged, last.fields, allFields(owners))
  const { removed, modified, added } = compareFields(type, stored, next.compared)
  const changed = writableFields(union(modified, added), write)
  const conflicts = force ? [] : conflictsOf(owners, id, changed)
  if (conflicts.length > 0) return { conflicts }
  const after = withoutFields(owners, union(changed, writableFields(removed, write)), id)
  const isChanged = !sameData(stored, next.object)
  const fields = withoutServerFields(own.fields)
  const isSame = last !== undefined && equalSets(fields, last.fields)
  setFields(after, id, { ...own, ...(isChanged ? { time: now } : {}), fields: isSame ? last.fields : fields })
  const object = isChanged ? (next.object as Members) : stored
  return { object: withOwners(manager === KUBECTL ? withLastApplied(object, applied) : object, after) }
}

/** An object without owners gets one for all its fields. */
function ownersBefore(type: FieldType, live: Members, write: ApplyWrite): Owners {
  const owners = fitToType(readOwners(metadataOf(live).managedFields) ?? new Map(), type)
  if (owners.size > 0) return owners
  return ownersAfterUpdate(owners, undefined, live, { ...write, manager: BEFORE_FIRST_APPLY })
}

function allFields(owners: Owners): FieldSet {
  return [...owners.values()].map(({ fields }) => fields).reduce(union)
}

function setFields(owners: Owners, id: string, owner: Owner): void {
  if (owner.fields.children.size === 0) owners.delete(id)
  else owners.set(id, owner)
}

function timeOf(owner: Owner | undefined): { readonly time?: string } {
  return owner?.time === undefined ? {} : { time: owner.time }
}

function describe(conflicts: readonly Conflict[]): ApplyConflicts {
  return {
    message: describeConflicts(conflicts),
    causes: conflicts.map(({ owner, path }) => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${describeOwner(owner)}`,
      field: describePath(path),
    })),
  }
}
