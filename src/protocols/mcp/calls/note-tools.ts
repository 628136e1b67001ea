import { clock } from '#base/clock.ts'
import type { JsonObject } from '#base/json.ts'
import type { ServeServices } from '../../backend-protocol.ts'
import type { McpTargetPlan } from '../config/mcp-plan.ts'
import type { McpRequest } from '../request/mcp-request.ts'
import { isPinned, notePin } from '../tools/tool-pins.ts'

type ToolsChanged = NonNullable<ServeServices['toolsChanged']>

/** Longer names are not remembered, so that rules and pins that need to know the tool refuse it. In characters. */
const MAX_NAME_LENGTH = 256

/** Remembers the tools of a list of a target, and reports those that have changed, or that are new and not accepted. */
export function noteTools(
  { plan, deps }: Pick<McpRequest, 'plan' | 'deps'>,
  target: McpTargetPlan,
  tools: readonly JsonObject[],
): void {
  const { pinning } = plan
  const reported: Parameters<ToolsChanged>[0]['tools'][number][] = []
  for (const tool of tools) {
    const { name } = tool
    if (typeof name !== 'string' || name.length > MAX_NAME_LENGTH) continue
    const known = deps.memory.tools.note(target.destination, name, tool, clock.monotonic())
    if (known === undefined) continue
    const { digest } = known
    const state = notePin(deps.table, target, { name, digest })
    const isRefused = pinning !== undefined && !isPinned(deps.table, target, pinning, { name, digest })
    if (state === 'changed' || (state === 'new' && isRefused)) reported.push({ name, digest, state, isRefused })
  }
  if (reported.length > 0) deps.toolsChanged?.({ backend: plan.backend, target: target.name, tools: reported })
}
