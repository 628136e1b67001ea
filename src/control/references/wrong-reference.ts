interface KindReference {
  readonly group: string
  readonly kind: string
}

interface WrongReference {
  readonly message: string
  /** The field to correct, relative to the reference. */
  readonly field: '.group' | '.kind'
}

/** Why a reference names no object that the field accepts. @param accepted groups by kind */
export function wrongReference(
  { group, kind }: KindReference,
  accepted: Readonly<Record<string, string>>,
): WrongReference {
  const right = Object.hasOwn(accepted, kind) ? accepted[kind] : undefined
  const ofGroup = Object.keys(accepted).filter((each) => group !== '' && accepted[each] === group)
  if (right !== undefined) {
    const needed = right === '' ? 'an empty group' : `group ${right}`
    const other = ofGroup.length === 0 ? '' : `; group ${group} needs kind ${ofGroup.join(' or ')}`
    return { field: '.group', message: `kind ${kind} needs ${needed}${other}` }
  }
  if (ofGroup.length > 0) {
    return { field: '.kind', message: `group ${group} has no kind ${kind}; use kind ${ofGroup.join(' or ')}` }
  }
  const kinds = Object.entries(accepted).map(([name, of]) => qualified(name, of))
  return { field: '.kind', message: `a ${qualified(kind, group)} cannot be used here; use a ${kinds.join(' or a ')}` }
}

function qualified(kind: string, group: string): string {
  return group === '' ? kind : `${kind} of ${group}`
}
