import type { ApiObject } from '#api/object.ts'
import type { PolicySection } from '#api/policy-fields.ts'
import type { LevelName, Phase, PolicyItem } from '#plan/item.ts'

/** One field of a policy section as written in an object, before its targets are known. */
export interface PolicyField {
  readonly object: Pick<ApiObject, 'kind' | 'metadata' | 'origin'>
  readonly section: PolicySection
  readonly phase?: Phase
  readonly field: string
  readonly path: string
  readonly spec: unknown
}

/** A target of a policy, and the precedence level there. */
export interface PolicyAttachment {
  readonly target: string
  readonly level: LevelName
}

/** Why a field cannot be applied in full, see `PolicyItem`. */
export type FieldFaults = Pick<PolicyItem, 'notPermitted' | 'broken'>

export function policyItem(
  { object, section, phase, field, path, spec }: PolicyField,
  { target, level }: PolicyAttachment,
  { notPermitted = [], broken }: FieldFaults = {},
): PolicyItem {
  const { namespace, name, creationTimestamp } = object.metadata
  const where = phase === undefined ? section : `${section}/${phase}`
  const item: Omit<PolicyItem, 'field' | 'spec'> & Pick<PolicyField, 'field' | 'spec'> = {
    kind: 'policy',
    key: `Policy/${target}/${where}/${field}/${object.kind}/${namespace}/${name}`,
    section,
    phase,
    field,
    target,
    level,
    spec,
    origin: object.origin,
    path,
    created: creationTimestamp ?? '',
    ...(notPermitted.length === 0 ? {} : { notPermitted }),
    ...(broken === undefined ? {} : { broken }),
  }
  // The schema of the object admitted the spec of every field.
  return item as PolicyItem
}

/** The fields of a section, each with its path. `phase` applies to the whole section and is not a field. */
export function fieldsOf(
  object: PolicyField['object'],
  section: PolicySection,
  spec: Readonly<Record<string, unknown>>,
  path: string,
): readonly PolicyField[] {
  const phase = section === 'traffic' ? ((spec.phase as Phase | undefined) ?? 'PostRouting') : undefined
  return Object.entries(spec)
    .filter(([field, value]) => value !== undefined && (section !== 'traffic' || field !== 'phase'))
    .map(([field, value]) => ({
      object,
      section,
      ...(phase === undefined ? {} : { phase }),
      field,
      path: `${path}.${field}`,
      spec: value,
    }))
}
