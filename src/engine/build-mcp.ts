import type { BackendItem } from '#plan/item.ts'
import type { ResolvedMcpBackend } from '#plan/mcp-targets.ts'
import { compileMcp, type McpPolicySpec, type McpSource } from '#protocols/mcp/compile-mcp.ts'
import type { McpPlan } from '#protocols/mcp/mcp-plan.ts'
import type { BackendMerge, BackendScope } from './build-backend.ts'

/** The MCP side of a backend: its targets as they resolve now, and the rules of every level (decision A-21). */
export function buildMcp(item: BackendItem, merge: BackendMerge, { lookups, context }: BackendScope): McpPlan {
  const spec = item.spec as ResolvedMcpBackend
  const rules = merge.targets.flatMap((target) => lookups.policiesAt(target)).filter(({ field }) => field === 'mcp')
  return compileMcp(
    { spec, origin: item.origin, path: 'spec.mcp', target: item.key },
    rules.map(
      ({ spec, origin, path, target }): McpSource<McpPolicySpec> => ({
        spec: spec as McpPolicySpec,
        origin,
        path,
        target,
      }),
    ),
    context,
  )
}
