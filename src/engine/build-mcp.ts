import type { BackendItem } from '#plan/item.ts'
import type { ResolvedMcpBackend } from '#plan/mcp-targets.ts'
import { compileMcp, type McpPolicySpec, type McpSource } from '#protocols/mcp/compile-mcp.ts'
import type { McpPlan } from '#protocols/mcp/mcp-plan.ts'
import type { BackendMerge, BackendScope } from './backend-scope.ts'

/** The MCP side of a backend: its targets as they resolve now, and the rules of every level (decision A-21). */
export function buildMcp(
  item: BackendItem,
  merge: (section: string | undefined) => BackendMerge,
  { lookups, context }: BackendScope,
): McpPlan {
  const resolved = item.spec as ResolvedMcpBackend
  const passesCredentials = (target: string) => {
    const auth = merge(target).fields.get('auth')?.sources[0]?.spec as { readonly passthrough?: object } | undefined
    return auth?.passthrough !== undefined
  }
  const spec = {
    ...resolved,
    targets: resolved.targets.map((target) => ({ ...target, passthrough: passesCredentials(target.name) })),
  }
  const rules = merge(undefined)
    .targets.flatMap((target) => lookups.policiesAt(target))
    .filter(({ field }) => field === 'mcp')
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
