import type { ServedKind } from '../kinds/served-kind.ts'
import type { DefinitionCondition } from './definition-conditions.ts'
import type { DefinitionSpec } from './definition-schema.ts'

export interface AcceptedNames {
  readonly isAccepted: boolean
  /** `status.acceptedNames` */
  readonly names: object
  readonly conditions: readonly DefinitionCondition[]
}

/**
 * Decides whether the names of a definition are free in its group.
 * @param isBuiltIn the gateway serves the kind by itself
 * @param others the kinds of other definitions, and those that are built in
 */
export function acceptNames(
  { group, names }: DefinitionSpec,
  isBuiltIn: boolean,
  others: readonly ServedKind[],
): AcceptedNames {
  const used = others.filter((kind) => kind.group === group)
  const resources = new Set(used.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames]))
  const kinds = new Set(used.flatMap(({ kind, listKind }) => [kind, listKind]))
  const wanted = [names.plural, names.singular, ...(names.shortNames ?? [])]
  const taken = [
    ...wanted.filter((name) => name !== undefined && resources.has(name)),
    ...[names.kind, names.listKind].filter((name) => name !== undefined && kinds.has(name)),
  ]
  if (taken.length === 0) return { isAccepted: true, names, conditions: established(isBuiltIn) }
  const message = taken.map((name) => `"${name}" is already in use`).join(', ')
  return {
    isAccepted: false,
    names: { plural: '', kind: '' },
    conditions: [
      { type: 'NamesAccepted', status: 'False', reason: 'NamesConflict', message },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ],
  }
}

function established(isBuiltIn: boolean): readonly DefinitionCondition[] {
  const message = isBuiltIn
    ? 'the kind is built in: the definition of the gateway is in use, and fields that only this one has are kept'
    : 'the initial names have been accepted'
  return [
    { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
    { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message },
  ]
}
