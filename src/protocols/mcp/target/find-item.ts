import type { JsonObject } from '#base/json.ts'
import type { ItemKind } from '../config/authorization.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { type Naming, ownedName, ownedUri } from '../config/naming.ts'
import { isObject } from '../message/json-rpc.ts'
import type { ItemParameter } from '../message/methods.ts'

/** The item that a request refers to. */
export interface FoundItem {
  readonly kind: ItemKind
  /** The name that the client used. */
  readonly publicName: string
  /** The name that the target uses. */
  readonly name: string
  /** Undefined if the name belongs to no target. */
  readonly target: McpTargetPlan | undefined
  /** Parameters for the target. */
  readonly params: JsonObject
}

/** The kind of item that a parameter identifies. */
export function kindOf(parameter: ItemParameter, params: JsonObject | undefined): ItemKind {
  switch (parameter) {
    case 'tool-name':
      return 'tool'
    case 'prompt-name':
      return 'prompt'
    case 'uri':
      return 'resource'
    case 'task':
      return 'task'
    case 'ref':
      return isObject(params?.ref) && params.ref.type === 'ref/prompt' ? 'prompt' : 'resource'
  }
}

/** Undefined when the parameters do not identify an item. */
export function findItem(
  naming: Naming,
  parameter: ItemParameter,
  params: JsonObject | undefined,
): FoundItem | undefined {
  if (params === undefined) return undefined
  switch (parameter) {
    case 'tool-name':
      return readItem(naming, 'tool', 'name', params)
    case 'prompt-name':
      return readItem(naming, 'prompt', 'name', params)
    case 'uri':
      return readItem(naming, 'resource', 'uri', params)
    case 'task':
      return readItem(naming, 'task', 'taskId', params)
    case 'ref':
      return findReferred(naming, params)
  }
}

/** In `completion/complete` the item is one level deeper. */
function findReferred(naming: Naming, params: JsonObject): FoundItem | undefined {
  const { ref } = params
  if (!isObject(ref)) return undefined
  const found =
    ref.type === 'ref/prompt'
      ? readItem(naming, 'prompt', 'name', ref)
      : // Rules could judge another item than the target finds.
        ref.type === 'ref/resource'
        ? readItem(naming, 'resource', 'uri', ref)
        : undefined
  return found && { ...found, params: { ...params, ref: found.params } }
}

function readItem(
  naming: Naming,
  kind: ItemKind,
  member: 'name' | 'uri' | 'taskId',
  holder: JsonObject,
): FoundItem | undefined {
  const written = holder[member]
  if (typeof written !== 'string') return undefined
  const owned = member === 'name' ? ownedName(naming, written) : ownedUri(naming, written)
  return {
    kind,
    publicName: written,
    name: owned?.name ?? written,
    target: owned?.target,
    params: owned === undefined || !naming.multiplexes ? holder : { ...holder, [member]: owned.name },
  }
}
