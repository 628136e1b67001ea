import { backendSimple } from '#policies/shared/connection/backend-simple.ts'
import {
  type ConfigProblem,
  defaulted,
  enumOf,
  exactlyOne,
  fieldPath,
  host,
  labelSelector,
  listMap,
  localObjectReference,
  notEmpty,
  object,
  optional,
  type Parsed,
  pathText,
  port,
  problem,
  required,
  sectionName,
  withRule,
} from '#schema/index.ts'

const mcpSelector = notEmpty(
  object({
    namespaces: optional(labelSelector(), 'Namespaces to search. When unset, only the namespace of the ProxyBackend.'),
    services: optional(labelSelector(), 'Services that become targets, selected by label.'),
  }),
)

function checkPoliciesNeedHost(
  spec: { readonly policies?: unknown; readonly backendRef?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.policies === undefined || spec.backendRef === undefined) return []
  const message = 'mcp target policies may not be used with backendRef; attach a ProxyPolicy to the Service instead'
  return [problem(fieldPath(path, 'policies'), 'not-together', message)]
}

const mcpTarget = withRule(
  exactlyOne(
    ['host', 'backendRef'],
    object({
      host: optional(host(), 'Host name or IP address.'),
      backendRef: optional(
        localObjectReference(),
        'A Service in the namespace of the ProxyBackend, as an alternative to host.',
      ),
      port: required(port(), 'TCP port.'),
      path: optional(pathText(1024), 'Path of the MCP endpoint. When unset, /sse for protocol SSE, otherwise /mcp.'),
      protocol: optional(enumOf('StreamableHTTP', 'SSE'), 'MCP transport. When unset, StreamableHTTP.'),
      policies: optional(backendSimple, 'Backend policies for requests to this target. Allowed only with host.'),
    }),
  ),
  {
    reads: [],
    description: 'policies is allowed only with host.',
    check: checkPoliciesNeedHost,
    onServer: '!has(self.policies) || !has(self.backendRef)',
  },
)

const mcpTargetSelector = exactlyOne(
  ['selector', 'static'],
  object({
    name: required(sectionName(), 'Name of the target. Policies target it with this name as sectionName.'),
    selector: optional(mcpSelector, 'Selects Services by label. Prefer it to static for Services of the cluster.'),
    static: optional(mcpTarget, 'One MCP server.'),
  }),
)

/** `ProxyBackend.spec.mcp` (specification 1, 2.3.4). */
export const mcpBackend = object({
  targets: required(listMap('name', mcpTargetSelector, { min: 1, max: 32 }), 'MCP servers behind this backend.'),
  sessionRouting: defaulted(
    enumOf('Stateful', 'Stateless'),
    'Stateful',
    'Stateful: all requests of a session, identified by the mcp-session-id header, go to the same backend replica. Stateless: no sessions.',
  ),
  failureMode: optional(
    enumOf('FailClosed', 'FailOpen'),
    'Behavior when a target fails. FailClosed (the default): the whole session fails. FailOpen: the other targets keep serving.',
  ),
})

export type McpTargetSpec = Parsed<typeof mcpTarget>
export type McpSelectorSpec = Parsed<typeof mcpSelector>
export type McpTargetSelectorSpec = Parsed<typeof mcpTargetSelector>
export type McpBackendSpec = Parsed<typeof mcpBackend>
