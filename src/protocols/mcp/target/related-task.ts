import type { JsonObject } from '#base/json.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { type Naming, ownedUri, publicUri } from '../config/naming.ts'
import { isObject } from '../message/json-rpc.ts'

/** The member of `_meta` that names the task of a message (revision 2025-11-25, "Associating Task-Related Messages"). */
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'

/** Parameters or a result of a target, with the id of a task that clients know. */
export function publicTask(naming: Naming, target: McpTargetPlan, holder: JsonObject): JsonObject {
  return naming.multiplexes ? mapTask(holder, (taskId) => publicUri(naming, target, taskId)) : holder
}

/** Reverses `publicTask`. The id of a task of the client itself stays. */
export function ownTask(naming: Naming, target: McpTargetPlan, holder: JsonObject): JsonObject {
  if (!naming.multiplexes) return holder
  return mapTask(holder, (taskId) => {
    const owned = ownedUri(naming, taskId)
    return owned?.target.name === target.name ? owned.name : taskId
  })
}

/** @returns the same object if it names no task */
function mapTask(holder: JsonObject, map: (taskId: string) => string): JsonObject {
  const meta = holder._meta
  const related = isObject(meta) ? meta[RELATED_TASK] : undefined
  if (!isObject(meta) || !isObject(related) || typeof related.taskId !== 'string') return holder
  return { ...holder, _meta: { ...meta, [RELATED_TASK]: { ...related, taskId: map(related.taskId) } } }
}
