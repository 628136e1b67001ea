import { sameData } from '#base/incremental/same-data.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { isJsonArray, isJsonObject, memberOf, setMember } from './json-object.ts'
import { indexOf, parsePointer } from './json-pointer.ts'
import { PatchError, type Patched, patched } from './patched.ts'

/** Limits of one patch, as API servers have them. */
const MAX_OPERATIONS = 10_000
const MAX_COPIED_CHARACTERS = 3 * 1024 * 1024

type Pointer = readonly string[]

/** One operation of RFC 6902. The texts of the pointers are for messages. */
type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: Pointer; readonly to: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: Pointer; readonly to: string }
  | {
      readonly op: 'move' | 'copy'
      readonly from: Pointer
      readonly source: string
      readonly path: Pointer
      readonly to: string
    }

/** Applies a JSON patch (RFC 6902): all of its operations or none. */
export function applyJsonPatch(document: Json, patch: unknown): Patched<Json> {
  return patched(() => {
    const operations = readOperations(patch)
    const draft = new Draft(document)
    for (const operation of operations) draft.apply(operation)
    return draft.root
  })
}

function readOperations(patch: unknown): readonly Operation[] {
  if (!isJsonArray(patch))
    throw new PatchError('BadRequest', 'error decoding patch: a JSON patch is a list of operations')
  if (patch.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`
    throw new PatchError('RequestEntityTooLarge', message)
  }
  return patch.map(readOperation)
}

function readOperation(operation: Json, index: number): Operation {
  if (!isJsonObject(operation)) throw malformed(index, 'an operation is an object')
  const op = textOf(operation, 'op', index)
  const to = textOf(operation, 'path', index)
  const path = parsePointer(to)
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = memberOf(operation, 'value')
      if (value === undefined) throw malformed(index, `${op} needs a value`)
      return { op, path, to, value }
    }
    case 'remove':
      return { op, path, to }
    case 'move':
    case 'copy': {
      const source = textOf(operation, 'from', index)
      return { op, path, to, from: parsePointer(source), source }
    }
    default:
      throw malformed(index, `unknown operation ${JSON.stringify(op)}`)
  }
}

function textOf(operation: JsonObject, name: string, index: number): string {
  const value = memberOf(operation, name)
  if (typeof value !== 'string') throw malformed(index, `${name} must be a string`)
  return value
}

function malformed(index: number, message: string): PatchError {
  return new PatchError('BadRequest', `error decoding patch: operation ${index}: ${message}`)
}

type Container = Json[] | Record<string, Json>

/** A document while it is patched. Containers of the original are copied once, before their first change. */
class Draft {
  root: Json
  /** Containers that were created here and are in one place only. */
  readonly #own = new WeakSet<object>()
  #copiedCharacters = 0

  constructor(document: Json) {
    this.root = document
  }

  apply(operation: Operation): void {
    const { path, to } = operation
    switch (operation.op) {
      case 'add':
        return this.#add('add', path, to, operation.value)
      case 'replace':
        return this.#replace(path, to, operation.value)
      case 'remove':
        return void this.#remove('remove', path, to)
      case 'test':
        return this.#test(path, to, operation.value)
      case 'copy':
        return this.#add('copy', path, to, this.#duplicate(operation.from, operation.source))
      case 'move':
        return this.#move(operation.from, operation.source, path, to)
    }
  }

  #move(from: Pointer, source: string, path: Pointer, to: string): void {
    if (path.length > from.length && from.every((token, i) => token === path[i])) {
      throw misfit('move', `cannot move ${source} into itself: ${to}`)
    }
    if (this.#find(from) === undefined) throw misfit('move', `doc is missing from path: ${source}: missing value`)
    if (source === to) return
    this.#add('move', path, to, this.#remove('move', from, source))
  }

  #test(path: Pointer, to: string, value: Json): void {
    const found = this.#find(path)
    if (found === undefined) throw misfit('test', `doc is missing path: ${to}: missing value`)
    if (!sameData(found, value)) throw new PatchError('Invalid', `testing value ${to} failed: test failed`)
  }

  #add(op: string, path: Pointer, to: string, value: Json): void {
    if (path.length === 0) {
      this.root = value
      return
    }
    const container = this.#containerOf(op, path, to)
    const token = path.at(-1)!
    if (!Array.isArray(container)) return setMember(container, token, value)
    const index = token === '-' ? container.length : indexOf(token, container.length)
    if (index === undefined) throw misfit(op, `invalid index: ${to}`)
    container.splice(index, 0, value)
  }

  #replace(path: Pointer, to: string, value: Json): void {
    if (path.length === 0) {
      this.root = value
      return
    }
    const container = this.#containerOf('replace', path, to)
    const token = path.at(-1)!
    if (Array.isArray(container)) {
      const index = indexOf(token, container.length - 1)
      if (index === undefined) throw misfit('replace', `doc is missing key: ${to}: missing value`)
      container[index] = value
    } else {
      if (!Object.hasOwn(container, token)) throw misfit('replace', `doc is missing key: ${to}: missing value`)
      setMember(container, token, value)
    }
  }

  #remove(op: string, path: Pointer, to: string): Json {
    if (path.length === 0) throw misfit(op, 'the whole document cannot be removed')
    const container = this.#containerOf(op, path, to)
    const token = path.at(-1)!
    if (Array.isArray(container)) {
      const index = indexOf(token, container.length - 1)
      if (index === undefined) throw misfit(op, `doc is missing path: ${to}: missing value`)
      return container.splice(index, 1)[0]!
    }
    const value = memberOf(container, token)
    if (value === undefined) throw misfit(op, `doc is missing path: ${to}: missing value`)
    delete container[token]
    return value
  }

  #find(path: Pointer): Json | undefined {
    let value: Json | undefined = this.root
    for (const token of path) {
      if (value === undefined) return undefined
      value = childOf(value, token)
    }
    return value
  }

  /** The container of the last token, ready for a change: all containers down to it belong to this draft. */
  #containerOf(op: string, path: Pointer, to: string): Container {
    let container = this.#owned(this.root)
    if (container === undefined) throw misfit(op, `doc is missing path: ${to}: missing value`)
    this.root = container
    for (const token of path.slice(0, -1)) {
      const child = this.#owned(childOf(container, token))
      if (child === undefined) throw misfit(op, `doc is missing path: ${to}: missing value`)
      if (Array.isArray(container)) container[Number(token)] = child
      else setMember(container, token, child)
      container = child
    }
    return container
  }

  /** The container itself or its copy; undefined if the value is not a container. */
  #owned(value: Json | undefined): Container | undefined {
    if (typeof value !== 'object' || value === null) return undefined
    if (this.#own.has(value)) return value as Container
    const copy: Container = isJsonArray(value) ? [...value] : { ...value }
    this.#own.add(copy)
    return copy
  }

  /** A copy that shares nothing with its source, which may still change in place. Bounded: copies of copies grow exponentially. */
  #duplicate(from: Pointer, source: string): Json {
    const value = this.#find(from)
    if (value === undefined) throw misfit('copy', `doc is missing from path: ${source}: missing value`)
    this.#copiedCharacters += JSON.stringify(value).length
    if (this.#copiedCharacters > MAX_COPIED_CHARACTERS) {
      const message = `Unable to complete the copy, the accumulated size increase of copy is ${this.#copiedCharacters}, exceeding the limit ${MAX_COPIED_CHARACTERS}`
      throw new PatchError('RequestEntityTooLarge', message)
    }
    return structuredClone(value)
  }
}

function childOf(value: Json, token: string): Json | undefined {
  if (isJsonArray(value)) {
    const index = indexOf(token, value.length - 1)
    return index === undefined ? undefined : value[index]
  }
  return isJsonObject(value) ? memberOf(value, token) : undefined
}

function misfit(op: string, why: string): PatchError {
  return new PatchError('Invalid', `${op} operation does not apply: ${why}`)
}
