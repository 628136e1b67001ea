import type { JsonObject } from '#base/json.ts'
import type { ItemKind } from '../config/authorization.ts'
import type { McpPlan, McpTargetPlan } from '../config/mcp-plan.ts'
import { isObject } from '../message/json-rpc.ts'
import type { ItemParameter } from '../message/methods.ts'
import { ownedName, ownedUri } from './naming.ts'

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

/** Undefined when the parameters do not identify an item. */
export function findItem(
  plan: McpPlan,
  parameter: ItemParameter,
  params: JsonObject | undefined,
): FoundItem | undefined {
  if (params === undefined) return undefined
  switch (parameter) {
    case 'tool-name':
      return readItem(plan, 'tool', 'name', params)
    case 'prompt-name':
      return readItem(plan, 'prompt', 'name', params)
    case 'uri':
      return readItem(plan, 'resource', 'uri', params)
    case 'ref':
      return findReferred(plan, params)
  }
}

/** In `completion/complete` the item is one level deeper. */
function findReferred(plan: McpPlan, params: JsonObject): FoundItem | undefined {
  const { ref } = params
  if (!isObject(ref)) return undefined
  const found =
    ref.type === 'ref/prompt' ? readItem(plan, 'prompt', 'name', ref) : readItem(plan, 'resource', 'uri', ref)
  return found && { ...found, params: { ...params, ref: found.params } }
}

function readItem(plan: McpPlan, kind: ItemKind, member: 'name' | 'uri', holder: JsonObject): FoundItem | undefined {
  const written = holder[member]
  if (typeof written !== 'string') return undefined
  const owned = member === 'name' ? ownedName(plan, written) : ownedUri(plan, written)
  return {
    kind,
    publicName: written,
    name: owned?.name ?? written,
    target: owned?.target,
    params: owned === undefined || !plan.multiplexes ? holder : { ...holder, [member]: owned.name },
  }
}
