import type { JsonObject } from '#base/json.ts'
import { isObject } from '../message/json-rpc.ts'
import { TASKS } from '../message/meta.ts'

/** Capabilities of a client or a target for the other era, in which tasks have another form. */
export function withoutTasks({ extensions, tasks: _, ...capabilities }: JsonObject): JsonObject {
  if (!isObject(extensions)) return capabilities
  const { [TASKS]: _tasks, ...rest } = extensions
  return Object.keys(rest).length === 0 ? capabilities : { ...capabilities, extensions: rest }
}
