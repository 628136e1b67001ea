import type { BackendProtocol } from '../backend-protocol.ts'
import { arnOf, runtimeAddress } from './agent-runtime.ts'
import { type AgentRuntimeSpec, type AwsBackendSpec, awsBackend } from './backend-schema.ts'
import { runtimeHost } from './runtime-arn.ts'

/** An agent runtime of the cloud (specification 1, 2.3.3). Method, fields and body of a request pass; responses stream. */
export const aws = {
  name: 'http',
  schema: awsBackend,
  // Agents can take long.
  responseTimeoutMs: 0,
  rewritesHost: true,
  addresses: ({ spec }) => [[runtimeAddress(spec.agentRuntime!)]],
  compile: ({ spec }) => ({ explain: () => ({ lines: [describe(spec.agentRuntime!)] }) }),
} as const satisfies BackendProtocol<AwsBackendSpec> & { readonly schema: unknown }

function describe(spec: AgentRuntimeSpec): string {
  const { qualifier } = spec
  const arn = arnOf(spec)
  const endpoint = qualifier === undefined ? 'its default endpoint' : `qualifier ${JSON.stringify(qualifier)}`
  return `agent runtime ${arn.id} of account ${arn.account} at ${runtimeHost(arn)}, ${endpoint}; it replaces path and query`
}
