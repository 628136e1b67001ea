import { clock } from '#base/clock.ts'
import type { JsonObject } from '#base/json.ts'
import type { McpPlan, McpTargetPlan, ToolPinning } from '../config/mcp-plan.ts'
import type { Naming } from '../config/naming.ts'
import { isObject, type RequestMessage } from '../message/json-rpc.ts'
import type { ItemParameter } from '../message/methods.ts'
import type { McpDeps, McpRequest, SessionTarget } from '../request/mcp-request.ts'
import type { Session } from '../session/session-state.ts'
import { findItem } from '../target/find-item.ts'
import { readTools } from '../target/read-tools.ts'
import type { KnownTool } from '../tools/known-tools.ts'
import { isPinned, latestDigest } from '../tools/tool-pins.ts'
import { noteTools } from './note-tools.ts'
import { callInSession, presentTarget } from './renew-target.ts'

/** Whether the gateway must know what the targets say of their tools. */
function needsTools({ authorization, pinning }: McpPlan): boolean {
  return authorization.readsAnnotations || pinning !== undefined
}

/** What is known of a tool of a target; undefined: nothing, or another worker has seen that the tool has changed. */
export function findTool(
  { memory, table }: Pick<McpDeps, 'memory' | 'table'>,
  target: McpTargetPlan,
  name: string,
): KnownTool | undefined {
  const known = memory.tools.find(target.destination, name, clock.monotonic())
  if (known === undefined) return undefined
  const latest = latestDigest(table, target, name)
  if (latest === undefined || latest === known.digest) return known
  memory.tools.forget(target.destination)
  return undefined
}

/** Why a tool is refused, for operators; undefined: it is accepted. */
export function pinningFault(
  pinning: ToolPinning,
  deps: Pick<McpDeps, 'memory' | 'table'>,
  target: McpTargetPlan,
  name: string,
): string | undefined {
  const known = findTool(deps, target, name)
  if (known === undefined) return `target ${target.name} does not list the tool, or it could not be listed`
  const { digest } = known
  if (isPinned(deps.table, target, pinning, { name, digest })) return undefined
  const what = pinning.accepted === undefined ? 'the tool has changed' : 'the tool is not accepted'
  return `${what}; its digest is ${digest}`
}

/** The target whose tools must be listed before a request can be authorized; undefined: none. */
export function unknownToolOwner(
  { plan, deps }: McpRequest,
  naming: Naming,
  { params }: RequestMessage,
  parameter: ItemParameter,
): McpTargetPlan | undefined {
  if (parameter !== 'tool-name' || !needsTools(plan)) return undefined
  const item = findItem(naming, parameter, params)
  if (item?.target === undefined) return undefined
  return findTool(deps, item.target, item.name) === undefined ? item.target : undefined
}

/** Lists the tools of a target, to know them. What cannot be read stays unknown. */
export async function learnTools(
  request: McpRequest,
  session: Session,
  plan: McpTargetPlan,
  message: RequestMessage,
): Promise<void> {
  const target = await presentTarget(request, session, plan)
  if (target?.session?.capabilities.has('tools') !== true) return
  const list = () => listTools(request, session, target, message)
  // Without a session, callers are not told apart, and each of them may see other tools.
  if (session.key === '') return list()
  return request.deps.memory.tools.listOnce(target.plan.destination, session.key, clock.monotonic(), list)
}

async function listTools(
  request: McpRequest,
  session: Session,
  target: SessionTarget,
  message: RequestMessage,
): Promise<void> {
  const meta = request.era === 'modern' ? clientOf(message) : undefined
  const pages = readTools((list) => callInSession(request, session, target, list), meta)
  for await (const tools of pages) noteTools(request, target.plan, tools)
}

/** What a request of the modern era says about its client. */
function clientOf({ params }: RequestMessage): JsonObject {
  if (!isObject(params?._meta)) return {}
  const { progressToken: _, ...client } = params._meta
  return client
}
