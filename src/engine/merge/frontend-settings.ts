import { POLICIES } from '#api/policy-fields.ts'
import { type LlmReads, llmReadsOf } from '#exchange/llm-reads.ts'
import type { ObserveSettings } from '#observe/observer.ts'
import type { FrontendHttpSetting } from '#policies/frontend/http/index.ts'
import type { NetworkAuthorization } from '#policies/frontend/network-authorization/index.ts'
import type { ProxyProtocolSetting } from '#policies/frontend/proxy-protocol/index.ts'
import type { FrontendTcpSetting } from '#policies/frontend/tcp/index.ts'
import type { FrontendTlsSetting } from '#policies/frontend/tls/index.ts'
import type { CompileContext } from '#policies/policy.ts'
import { readsRequestBody, readsResponseBody } from '#policies/shared/body-use.ts'
import type { Lookups } from '../plan/lookups.ts'
import { compileSetting, mergeSection } from './build-chain.ts'

/** What `frontend` policies say about one listener. */
export interface FrontendSettings extends FrontendHttpSetting, FrontendTcpSetting, ObserveSettings {
  /** What expressions of log and metrics read of LLM calls. */
  readonly llmReads: LlmReads
  /** An expression of the log reads what goes through tools of MCP (decision B99). */
  readonly readsToolCalls: boolean
  /** An expression of log or metrics reads bodies, so their beginnings are kept as they pass (decision A-49). */
  readonly recordsRequestBody: boolean
  readonly recordsResponseBody: boolean
  /** Who may connect; undefined: everybody. */
  readonly networkAuthorization: NetworkAuthorization | undefined
  readonly tls: FrontendTlsSetting
  /** Undefined: no PROXY header is expected. */
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
  const observed = [...(accessLog?.add ?? []).map(({ expression }) => expression), ...metricLabels.expressions]
  if (accessLog?.filter !== undefined) observed.push(accessLog.filter)
  return {
    ...compileSetting(POLICIES.frontend.http, fields, context),
    ...compileSetting(POLICIES.frontend.tcp, fields, context),
    accessLog,
    metricLabels,
    llmReads: llmReadsOf(observed),
    readsToolCalls: observed.some(({ references }) => TOOL_CALLS.some((path) => references.has(path))),
    recordsRequestBody: readsRequestBody(observed) !== false,
    recordsResponseBody: readsResponseBody(observed) !== false,
    networkAuthorization: compileSetting(POLICIES.frontend.networkAuthorization, fields, context),
    tls: compileSetting(POLICIES.frontend.tls, fields, context),
    proxyProtocol: compileSetting(POLICIES.frontend.proxyProtocol, fields, context),
  }
}

const TOOL_CALLS = ['mcp.tool.arguments', 'mcp.tool.result', 'mcp.tool.error']
