import { POLICIES } from '#api/policy-fields.ts'
import { type LlmReads, llmReadsOf } from '#exchange/llm-reads.ts'
import type { ObserveSettings } from '#observe/observer.ts'
import type { FrontendHttpSetting } from '#policies/frontend/http/index.ts'
import type { NetworkAuthorization } from '#policies/frontend/network-authorization/index.ts'
import type { ProxyProtocolSetting } from '#policies/frontend/proxy-protocol/index.ts'
import type { FrontendTcpSetting } from '#policies/frontend/tcp/index.ts'
import type { FrontendTlsSetting } from '#policies/frontend/tls/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import { readsResponseBody, recordsRequestBody } from '#policies/shared/body-use.ts'
import type { Lookups } from '../lookups/lookups.ts'
import { compileSetting, mergeSection } from './build-chain.ts'

/** The merged `frontend` policies of one listener. */
export interface FrontendSettings extends FrontendHttpSetting, FrontendTcpSetting, ObserveSettings {
  /** Data of LLM calls that log, metric and trace expressions read. */
  readonly llmReads: LlmReads
  /** A log or trace expression reads the responses to MCP tool calls (decision B99). */
  readonly readsToolCalls: boolean
  /** A log, metric or trace expression reads bodies, so their first bytes are recorded as they pass (decision A-49). */
  readonly recordsRequestBody: boolean
  readonly recordsResponseBody: boolean
  /** Which connections are accepted; undefined: all. */
  readonly networkAuthorization: NetworkAuthorization | undefined
  readonly tls: FrontendTlsSetting
  /** Undefined: connections have no PROXY header. */
  readonly proxyProtocol: ProxyProtocolSetting | undefined
}

export function buildFrontendSettings(
  targets: readonly string[],
  lookups: Lookups,
  context: CompileContext,
): FrontendSettings {
  const fields = mergeSection({ section: 'frontend', phase: undefined, targets }, lookups)
  const accessLog = compileSetting(POLICIES.frontend.accessLog, fields, context)
  const metricLabels = compileSetting(POLICIES.frontend.metrics, fields, context)
  const tracing = compileSetting(POLICIES.frontend.tracing, fields, context)
  const attributes = [...(accessLog?.add ?? []), ...(tracing?.add ?? [])]
  const observed = [...attributes.map(({ expression }) => expression), ...metricLabels.expressions]
  if (accessLog?.filter !== undefined) observed.push(accessLog.filter)
  return {
    ...compileSetting(POLICIES.frontend.http, fields, context),
    ...compileSetting(POLICIES.frontend.tcp, fields, context),
    accessLog,
    metricLabels,
    tracing,
    llmReads: llmReadsOf(observed),
    readsToolCalls: observed.some(({ references }) => TOOL_CALLS.some((path) => references.has(path))),
    recordsRequestBody: recordsRequestBody(observed),
    recordsResponseBody: readsResponseBody(observed) !== false,
    networkAuthorization: compileSetting(POLICIES.frontend.networkAuthorization, fields, context),
    tls: compileSetting(POLICIES.frontend.tls, fields, context),
    proxyProtocol: compileSetting(POLICIES.frontend.proxyProtocol, fields, context),
  }
}

const TOOL_CALLS = ['mcp.tool.result', 'mcp.tool.error']
