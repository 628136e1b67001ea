import { foldCase } from './fold-case.ts'
import { skipSpace, skipValue, walkElements, walkMembers } from './json-text.ts'

/**
 * What is read of an object, and so must have one reading for everybody: no member twice, and none that differs from a member that is
 * read only in case. Some take the first of two members, some the last, and some (Go) do not care about case.
 */
export interface ObjectShape {
  /** Members that are read; what is read inside of them, where they hold an object or a list of objects. */
  readonly members: ReadonlyMap<string, ObjectShape | undefined>
  readonly folded: ReadonlySet<string>
  /** The same for all other members. */
  readonly others: ObjectShape | undefined
}

export function shapeOf(members: Readonly<Record<string, ObjectShape | undefined>>): ObjectShape {
  const names = Object.keys(members)
  return { members: new Map(Object.entries(members)), folded: new Set(names.map(foldCase)), others: undefined }
}

/** Objects whose members are read by their exact names, at any depth. */
export const EXACT_NAMES: ObjectShape = {
  members: new Map(),
  folded: new Set(),
  get others() {
    return EXACT_NAMES
  },
}

/** A member with more than one reading. */
export interface AmbiguousMember {
  readonly key: string
  /** How many objects it stands in: 1 for a member of the outermost one. */
  readonly depth: number
}

/**
 * The first member of a JSON object that readers may take for different ones. The text must be well-formed.
 * @throws RangeError when objects of the shape are nested too deep
 */
export function findAmbiguousMember(text: string, shape: ObjectShape): AmbiguousMember | undefined {
  const search = new Search(text)
  search.walkValue(skipSpace(text, 0), shape, 1)
  return search.found
}

class Search {
  readonly #text: string
  found: AmbiguousMember | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** @returns the index after the value; -1 also when the search is over */
  walkValue(at: number, shape: ObjectShape | undefined, depth: number): number {
    if (shape === undefined) return skipValue(this.#text, at)
    switch (this.#text[at]) {
      case '{':
        return this.#walkObject(at, shape, depth)
      case '[':
        return walkElements(this.#text, at, (start) => this.walkValue(start, shape, depth))
      default:
        return skipValue(this.#text, at)
    }
  }

  #walkObject(at: number, { members, folded, others }: ObjectShape, depth: number): number {
    const seen = new Set<string>()
    return walkMembers(this.#text, at, (key, start) => {
      const isRead = members.has(key)
      if (seen.has(key) || (!isRead && folded.has(foldCase(key)))) {
        this.found = { key, depth }
        return -1
      }
      seen.add(key)
      return this.walkValue(start, isRead ? members.get(key) : others, depth + 1)
    })
  }
}
