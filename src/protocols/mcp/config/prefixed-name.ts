/** Between the name of a target and that of its tool or prompt, as clients see it (decision B62). */
export const NAME_SEPARATOR = '_'
/** The same for the URI of a resource, and for the id of a task. */
export const URI_SEPARATOR = '+'

/** An item of a target, with the name that the target uses. */
export interface OwnedName<Target> {
  readonly target: Target
  readonly name: string
}

/** Divides a name that begins with that of a target. The longest matching target name wins, so that a target `a` cannot claim items of `a_b`. */
export function splitPrefix<Target extends { readonly name: string }>(
  targets: readonly Target[],
  text: string,
  separator: string,
): OwnedName<Target> | undefined {
  let owner: Target | undefined
  for (const target of targets) {
    if (owner !== undefined && owner.name.length >= target.name.length) continue
    if (text.startsWith(`${target.name}${separator}`)) owner = target
  }
  return owner && { target: owner, name: text.slice(owner.name.length + separator.length) }
}
