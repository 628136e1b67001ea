import { foldCase } from './fold-case.ts'
import { walkElements, walkMembers } from './json-text.ts'
import { skipSpace, skipValue } from './skip-json.ts'

/**
 * Describes the parts of an object that the gateway reads. They must be unambiguous: no member may occur twice, or differ from a member
 * that is read only in letter case. Some parsers take the first of two members, some the last, and some (Go) ignore letter case.
 */
export interface ObjectShape {
  /** Names of the members that are read. They are few: comparing them is faster than hashing the key of each member. */
  readonly names: readonly string[]
  /** The shape of the value of each, if that is an object or a list of objects. */
  readonly shapes: readonly (ObjectShape | undefined)[]
  readonly folded: ReadonlySet<string>
  /** Shape of the values of all other members. */
  readonly others: ObjectShape | undefined
}

export function shapeOf(members: Readonly<Record<string, ObjectShape | undefined>>): ObjectShape {
  const names = Object.keys(members)
  return { names, shapes: Object.values(members), folded: new Set(names.map(foldCase)), others: undefined }
}

/** Objects whose members are read by their exact names, at any depth. */
export const EXACT_NAMES: ObjectShape = {
  names: [],
  shapes: [],
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

  #walkObject(at: number, { names, shapes, folded, others }: ObjectShape, depth: number): number {
    const seen = new Keys()
    return walkMembers(this.#text, at, (key, start) => {
      const read = indexOf(names, key)
      if (!seen.add(key) || (read < 0 && folded.size > 0 && folded.has(foldCase(key)))) {
        this.found = { key, depth }
        return -1
      }
      return this.walkValue(start, read < 0 ? others : shapes[read], depth + 1)
    })
  }
}

/** `Array.prototype.indexOf` compares texts many times slower. */
function indexOf(names: readonly string[], name: string): number {
  for (let at = 0; at < names.length; at++) if (names[at] === name) return at
  return -1
}

/** Keys in a list up to this number: comparing a few is faster than hashing them. */
const FEW = 8

class Keys {
  readonly #few: string[] = []
  #many: Set<string> | undefined

  /** @returns false: it was added before */
  add(key: string): boolean {
    if (this.#many !== undefined) return this.#addToMany(this.#many, key)
    if (indexOf(this.#few, key) >= 0) return false
    this.#few.push(key)
    if (this.#few.length > FEW) this.#many = new Set(this.#few)
    return true
  }

  #addToMany(many: Set<string>, key: string): boolean {
    const before = many.size
    return many.add(key).size > before
  }
}
