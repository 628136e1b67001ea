import { clock } from '#base/clock.ts'
import { isObject } from '../message/json-rpc.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { readTools } from '../target/read-tools.ts'
import type { TargetCall } from '../target/send-to-target.ts'
import { sendOverTransport } from '../transport/send-over-transport.ts'

/** How long the tools of a target are remembered. */
const REMEMBERED_MS = 5 * 60 * 1000

/** Tools of a target that are remembered. */
const MAX_TOOLS = 1000

/** Whether a target lets a tool be called only as a task (revision 2025-11-25, `execution.taskSupport`). */
export async function requiresTask(request: McpRequest, call: TargetCall, tool: unknown): Promise<boolean> {
  if (call.session?.capabilities.has('tasks') !== true || typeof tool !== 'string') return false
  const { taskTools } = request.deps.memory
  const { destination } = call.target
  const known = taskTools.get(destination)
  if (known !== undefined && known.untilMs > clock.monotonic()) return known.names.has(tool)
  const { target, session } = call
  const names = new Set<string>()
  for await (const tools of readTools((list) => sendOverTransport(request, { ...list, target, session }), undefined)) {
    for (const { name, execution } of tools) {
      const isRequired = isObject(execution) && execution.taskSupport === 'required'
      if (isRequired && typeof name === 'string' && names.size < MAX_TOOLS) names.add(name)
    }
  }
  taskTools.set(destination, { names, untilMs: clock.monotonic() + REMEMBERED_MS })
  return names.has(tool)
}
