import { CelError } from '../error.ts'
import { toJson } from '../json.ts'
import { define, type Overload } from '../overload.ts'
import { HostObject, MapValue, type Value } from '../value.ts'

/** Maximum number of attributes from one value. */
const MAX_PARTS = 1000

/** Deeper levels are not flattened. */
const MAX_DEPTH = 100

/**
 * A value that logs and traces show as one attribute per member: for the attribute `name`, `name.member`, or `name.0`, `name.1` for a list.
 */
export class Flattened extends HostObject {
  readonly typeName = 'flattened'
  readonly value: Value
  /** Members of members are flattened too. */
  readonly recursive: boolean

  constructor(value: Value, recursive: boolean) {
    super()
    this.value = value
    this.recursive = recursive
  }

  /** Name suffixes (`.a`, `.b.0`; empty for a value without members) with their values. */
  parts(): readonly (readonly [suffix: string, value: Value])[] {
    const parts: (readonly [string, Value])[] = []
    this.#collect('', this.value, this.recursive ? MAX_DEPTH : 1, parts)
    return parts
  }

  #collect(suffix: string, value: Value, depth: number, parts: (readonly [string, Value])[]): void {
    if (parts.length >= MAX_PARTS) return
    const members = depth > 0 ? membersOf(value) : undefined
    if (members === undefined) parts.push([suffix, value])
    else for (const [name, member] of members) this.#collect(`${suffix}.${name}`, member, depth - 1, parts)
  }

  override toJson(): unknown {
    return toJson(this.value)
  }
}

function membersOf(value: Value): readonly (readonly [string | number, Value])[] | undefined {
  if (Array.isArray(value)) return [...(value as readonly Value[]).entries()]
  if (!(value instanceof MapValue)) return undefined
  const members: (readonly [string, Value])[] = []
  for (const key of value.keys()) {
    const member = value.get(key)
    if (member !== undefined && !(member instanceof CelError)) members.push([String(toJson(key)), member])
  }
  return members
}

/** Only for environments of log and trace attributes; not part of the library. */
export const FLATTEN_FUNCTIONS: readonly Overload[] = [
  define('flatten(dyn) -> flattened', (value: Value) => new Flattened(value, false)),
  ...['flattenRecursive', 'flatten_recursive'].map((name) =>
    define(`${name}(dyn) -> flattened`, (value: Value) => new Flattened(value, true)),
  ),
]
