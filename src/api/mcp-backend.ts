import { backendSimple } from '#policies/shared/backend-simple.ts'
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
  longString,
  notEmpty,
  object,
  optional,
  type Parsed,
  port,
  problem,
  required,
  sectionName,
  withRule,
} from '#schema/index.ts'

const mcpSelector = notEmpty(
  object({
    namespaces: optional(labelSelector(), 'Namespaces searched; only the own namespace when unset.'),
    services: optional(labelSelector(), 'Services that become targets.'),
  }),
)

function checkPoliciesNeedHost(
  spec: { readonly policies?: unknown; readonly backendRef?: unknown },
  path: string,
): readonly ConfigProblem[] {
  if (spec.policies === undefined || spec.backendRef === undefined) return []
  const message = 'mcp target policies may not be used with backendRef; attach a ProxyPolicy to the Service'
  return [problem(fieldPath(path, 'policies'), 'not-together', message)]
}

const mcpTarget = withRule(
  exactlyOne(
    ['host', 'backendRef'],
    object({
      host: optional(host(), 'Hostname or IP address.'),
      backendRef: optional(localObjectReference(), 'A Service of the own namespace, in place of host.'),
      port: required(port(), 'TCP port.'),
      path: optional(longString(), 'Path of the MCP endpoint; /sse for protocol SSE, else /mcp, when unset.'),
      protocol: optional(enumOf('StreamableHTTP', 'SSE'), 'Transport; StreamableHTTP when unset.'),
      policies: optional(backendSimple, 'Settings of the connection, for targets with host.'),
    }),
  ),
  { reads: [], description: 'policies is only for targets with host.', check: checkPoliciesNeedHost },
)

const mcpTargetSelector = exactlyOne(
  ['selector', 'static'],
  object({
    name: required(sectionName(), 'Name of the target; policies reach it by this sectionName.'),
    selector: optional(mcpSelector, 'Services by their labels; the better choice for Services of the cluster.'),
    static: optional(mcpTarget, 'One server.'),
  }),
)

/** `ProxyBackend.spec.mcp` (specification 1, 2.3.4). */
export const mcpBackend = object({
  targets: required(listMap('name', mcpTargetSelector, { min: 1, max: 32 }), 'MCP servers behind this backend.'),
  sessionRouting: defaulted(
    enumOf('Stateful', 'Stateless'),
    'Stateful',
    'Stateful: a session, named by the header mcp-session-id, keeps its backend replica. Stateless: no sessions.',
  ),
  failureMode: optional(
    enumOf('FailClosed', 'FailOpen'),
    'When a target fails. FailClosed (the default): the whole session fails. FailOpen: the others go on serving.',
  ),
})

export type McpTargetSpec = Parsed<typeof mcpTarget>
export type McpSelectorSpec = Parsed<typeof mcpSelector>
export type McpTargetSelectorSpec = Parsed<typeof mcpTargetSelector>
export type McpBackendSpec = Parsed<typeof mcpBackend>
