import type { Json, JsonObject } from '#base/json.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import { type Naming, publicUri } from '../config/naming.ts'
import { isObject } from '../message/json-rpc.ts'
import { publicTask } from '../target/related-task.ts'

/**
 * A result with the public URIs of all resources that it contains or links to, so that the client can read them: contents of a resource,
 * content of a tool, messages of a prompt, and tasks.
 * @returns the same object if it has none
 */
export function publicResult(naming: Naming, target: McpTargetPlan, result: JsonObject): JsonObject {
  const publish = (uri: string) => publicUri(naming, target, uri)
  const named = publicTask(naming, target, result)
  const { contents, content, messages, task, taskId } = named
  const hasItems = Array.isArray(contents) || Array.isArray(content) || Array.isArray(messages)
  if (!hasItems && !isObject(task) && typeof taskId !== 'string') return named
  return {
    ...named,
    ...(typeof taskId === 'string' && { taskId: publish(taskId) }),
    ...(isObject(task) && typeof task.taskId === 'string' && { task: { ...task, taskId: publish(task.taskId) } }),
    ...(Array.isArray(contents) && { contents: contents.map((one) => publishUri(one, publish)) }),
    ...(Array.isArray(content) && { content: content.map((block) => publishBlock(block, publish)) }),
    ...(Array.isArray(messages) && { messages: messages.map((message) => publishMessage(message, publish)) }),
  }
}

type Publish = (uri: string) => string

function publishMessage(message: Json, publish: Publish): Json {
  if (!isObject(message)) return message
  const { content } = message
  if (Array.isArray(content)) return { ...message, content: content.map((block) => publishBlock(block, publish)) }
  return content === undefined ? message : { ...message, content: publishBlock(content, publish) }
}

function publishBlock(block: Json, publish: Publish): Json {
  if (!isObject(block)) return block
  if (block.type === 'resource_link') return publishUri(block, publish)
  if (block.type === 'resource' && block.resource !== undefined) {
    return { ...block, resource: publishUri(block.resource, publish) }
  }
  return block
}

function publishUri(holder: Json, publish: Publish): Json {
  return isObject(holder) && typeof holder.uri === 'string' ? { ...holder, uri: publish(holder.uri) } : holder
}

/** A tool with the public URI of its user interface, in both forms that hosts read (MCP Apps, SEP-1865). */
export function publicInterface(naming: Naming, target: McpTargetPlan, tool: JsonObject): JsonObject {
  const meta = tool._meta
  if (!isObject(meta)) return tool
  const { ui } = meta
  const flat = meta[FLAT]
  const changes: Record<string, Json> = {}
  if (isObject(ui) && typeof ui.resourceUri === 'string') {
    changes.ui = { ...ui, resourceUri: publicUri(naming, target, ui.resourceUri) }
  }
  if (typeof flat === 'string') changes[FLAT] = publicUri(naming, target, flat)
  return Object.keys(changes).length === 0 ? tool : { ...tool, _meta: { ...meta, ...changes } }
}

const FLAT = 'ui/resourceUri'
