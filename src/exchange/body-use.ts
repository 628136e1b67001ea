/** What is read of a body before it goes on: nothing, at least its beginning, or the whole of it. */
export type BodyUse = false | 'prefix' | true

/** What satisfies all of them. */
export function strongestUse(uses: Iterable<BodyUse | undefined>): BodyUse {
  let strongest: BodyUse = false
  for (const use of uses) {
    if (use === true) return true
    if (use === 'prefix') strongest = 'prefix'
  }
  return strongest
}
