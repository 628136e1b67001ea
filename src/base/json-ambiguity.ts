import { foldCase } from './fold-case.ts'
import { walkElements, walkMembers } from './json-text.ts'
import { skipSpace, skipValue } from './skip-json.ts'

/**
 * Describes the parts of an object that the gateway reads. They must be unambiguous: no member may occur twice, or differ from a member
 * that is read only in letter case. Some parsers take the first of two members, some the last, and some (Go) ignore letter case.
 */
export interface ObjectShape {
  /** Members that are read, each with the shape of its value, if that is an object or a list of objects. */
  readonly members: ReadonlyMap<string, ObjectShape | undefined>
  readonly folded: ReadonlySet<string>
  /** Shape of the values of all other members. */
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

/** A member that parsers may read differently. */
export interface AmbiguousMember {
  readonly key: string
  /** Nesting depth: 1 for a member of the outermost object. */
  readonly depth: number
}

/**
 * The first ambiguous member of a JSON text. The text must be well-formed.
 * @throws RangeError if objects of the shape are nested too deep
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

  /** @returns the index after the value; -1 also if the search is over */
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
