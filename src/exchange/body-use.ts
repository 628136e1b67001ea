/** The part of a body that is read before it is forwarded: nothing, at least its beginning, or all of it. */
export type BodyUse = false | 'prefix' | true

/** The use that satisfies all of them. */
export function strongestUse(uses: Iterable<BodyUse | undefined>): BodyUse {
  let strongest: BodyUse = false
  for (const use of uses) {
    if (use === true) return true
    if (use === 'prefix') strongest = 'prefix'
  }
  return strongest
}
