import { findField, type Members, memberCount } from './scan-members.ts'
import { applySplices, encode, type Splice } from './splice.ts'

const NOTHING = new Uint8Array(0)
const COMMA = 0x2c

/**
 * Changes to the top-level members of a JSON object. A value is replaced in place, a new member is added at the end, a removed member takes
 * its comma with it. All other members keep their bytes, so that order, unknown members and large numbers are preserved. Each member is
 * changed at most once.
 */
export class BodyEdits {
  readonly #members: Members
  readonly #splices: Splice[] = []
  #removed: Set<number> | undefined
  #added: Uint8Array[] | undefined

  constructor(members: Members) {
    this.#members = members
  }

  /** Sets the member `key` at `index`; a negative index adds it. */
  set(key: string, index: number, json: Uint8Array): void {
    const { offsets } = this.#members
    if (index >= 0) this.#splices.push({ start: offsets[4 * index + 2]!, end: offsets[4 * index + 3]!, text: json })
    else {
      this.#added ??= []
      this.#added.push(encode(`${JSON.stringify(key)}:`), json)
    }
  }

  /** Gives the member at `index` another key, which needs no escapes. */
  rename(index: number, key: Uint8Array): void {
    const { offsets } = this.#members
    this.#splices.push({ start: offsets[4 * index]!, end: offsets[4 * index + 1]!, text: key })
  }

  /** Changes inside values. */
  splice(splices: readonly Splice[]): void {
    this.#splices.push(...splices)
  }

  remove(index: number): void {
    this.#removed ??= new Set()
    this.#removed.add(index)
  }

  /** The object with all changes; its own bytes if there are none. */
  apply(): Uint8Array {
    const { bytes } = this.#members
    if (this.#removed !== undefined || this.#added !== undefined)
      this.#editEnd(this.#removed ?? new Set(), this.#added ?? [])
    return applySplices(bytes, this.#splices)
  }

  #editEnd(removed: ReadonlySet<number>, added: readonly Uint8Array[]): void {
    const { bytes, offsets } = this.#members
    const count = memberCount(this.#members)
    let last = count - 1
    while (last >= 0 && removed.has(last)) last--
    for (const index of removed) {
      if (index > last) continue
      this.#splices.push({ start: offsets[4 * index]! - 1, end: offsets[4 * index + 4]! - 1, text: NOTHING })
    }
    // The part after the last remaining member: removed members at the end are replaced by added ones.
    const start = last < 0 ? bytes.indexOf(0x7b) + 1 : offsets[4 * last + 3]!
    const end = last < count - 1 ? offsets[4 * count - 1]! : start
    this.#splices.push({ start, end, text: joinMembers(added, last >= 0) })
  }
}

/** `[key:, value, key:, value]` as text, with a comma before every member, or before every one except the first. */
function joinMembers(parts: readonly Uint8Array[], leadingComma: boolean): Uint8Array {
  const commas = parts.length / 2 - (leadingComma ? 0 : 1)
  const text = new Uint8Array(parts.reduce((sum, part) => sum + part.length, Math.max(0, commas)))
  let at = 0
  parts.forEach((part, index) => {
    if (index % 2 === 0 && (index > 0 || leadingComma)) text[at++] = COMMA
    text.set(part, at)
    at += part.length
  })
  return text
}

/** The object with members set to JSON texts, or removed if the value is undefined. */
export function editMembers(members: Members, changes: ReadonlyMap<string, string | undefined>): Uint8Array {
  const edits = new BodyEdits(members)
  for (const [key, json] of changes) {
    const index = findField(members, key)
    if (json !== undefined) edits.set(key, index, encode(json))
    else if (index >= 0) edits.remove(index)
  }
  return edits.apply()
}
