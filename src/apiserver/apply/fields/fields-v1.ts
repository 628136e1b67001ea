import type { JsonObject } from '#base/json.ts'
import { EMPTY, type FieldSet, type FieldSetDraft, newDraft, sortedChildren } from './field-set.ts'
import { isMembers } from './members.ts'
import { canonicalElement } from './path-element.ts'

/** Sets that were read of JSON that does not change, or written as such. */
const SETS = new WeakMap<JsonObject, FieldSet>()
const TEXTS = new WeakMap<FieldSet, JsonObject>()

/** Writes a field set in the form FieldsV1 (Kubernetes, meta/v1): `{"f:spec":{"f:replicas":{}}}`. */
export function writeFieldsV1(set: FieldSet): JsonObject {
  const known = TEXTS.get(set)
  if (known !== undefined) return known
  const written = write(set, false)
  remember(set, written)
  return written
}

function write(set: FieldSet, includesSelf: boolean): JsonObject {
  const members: Record<string, JsonObject> = {}
  if (includesSelf && set.own && set.children.size > 0) members['.'] = {}
  for (const [element, child] of sortedChildren(set)) members[element] = write(child, true)
  return members
}

/**
 * Reads a field set in the form FieldsV1. Path elements of unknown sorts are left out.
 * @throws SyntaxError
 */
export function readFieldsV1(fields: unknown): FieldSet {
  if (fields === undefined || fields === null) return EMPTY
  if (!isMembers(fields)) throw new SyntaxError('fieldsV1 must be an object')
  const known = SETS.get(fields as JsonObject)
  if (known !== undefined) return known
  const set = read(fields)
  set.own = false
  remember(set, fields as JsonObject)
  return set
}

function remember(set: FieldSet, written: JsonObject): void {
  SETS.set(written, set)
  TEXTS.set(set, written)
}

/** A field without fields below it is in the set itself. */
function read(fields: object): FieldSetDraft {
  const set = newDraft()
  for (const [text, below] of Object.entries(fields)) {
    if (text === '.') {
      set.own = true
      continue
    }
    const element = canonicalElement(text)
    if (element === undefined) continue
    if (!isMembers(below)) throw new SyntaxError(`fieldsV1: ${text} must be an object`)
    set.children.set(element, read(below))
  }
  if (set.children.size === 0) set.own = true
  return set
}
