import type { McpSessionReport } from '#observe/mcp-session-report.ts'
import type { SharedTable } from '#state/shared-table.ts'
import { a2a } from './a2a/a2a-protocol.ts'
import { aws } from './aws/aws-protocol.ts'
import type { BackendProtocol } from './backend-protocol.ts'
import { forwardProxyHttp, issuerHttp, serviceHttp, staticHttp } from './http/http-protocol.ts'
import { guardService } from './llm/guards/services/service-backend.ts'
import { llm } from './llm/llm-protocol.ts'
import { mcp } from './mcp/mcp-protocol.ts'

/** The protocol of each type of backend. Only this table imports the implementations. */
export const BACKEND_PROTOCOLS = {
  static: staticHttp,
  service: serviceHttp,
  ai: llm,
  mcp,
  a2a,
  dynamicForwardProxy: forwardProxyHttp,
  aws,
  guardService,
  issuer: issuerHttp,
} as const

export type BackendType = keyof typeof BACKEND_PROTOCOLS
/** The `spec` of a backend of that type in the plan. */
export type BackendSpec<Type extends BackendType> =
  (typeof BACKEND_PROTOCOLS)[Type] extends BackendProtocol<infer Spec> ? Spec : never

/** The sessions that clients of a worker have; see `BackendProtocol.sessions`. */
export function sessionsOf(worker: object, table: SharedTable): readonly McpSessionReport[] {
  return mcp.sessions(worker, table)
}

/** The protocol of a type of backend. */
export function protocolOf<Type extends BackendType>(type: Type): BackendProtocol<BackendSpec<Type>> {
  const protocols: { readonly [T in BackendType]: BackendProtocol<BackendSpec<T>> } = BACKEND_PROTOCOLS
  return protocols[type]
}
