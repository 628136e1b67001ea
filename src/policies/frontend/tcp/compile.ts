import type { CompileContext, PolicySource } from '../../policy.ts'
import { compileKeepalive, type KeepaliveSetting } from '../../shared/compile-keepalive.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'
import type { FrontendTcpSpec } from './schema.ts'

export interface FrontendTcpSetting {
  /** Undefined: off (decision A-41). */
  readonly keepalive: KeepaliveSetting | undefined
}

export function compileFrontendTcp(
  sources: readonly PolicySource<FrontendTcpSpec>[],
  context: CompileContext,
): FrontendTcpSetting {
  const source = sources[0]
  if (source?.spec.keepalive === undefined) return { keepalive: undefined }
  reportNotImplemented(context, source, '.keepalive', 'incoming connections have no keepalive')
  return { keepalive: compileKeepalive(source.spec.keepalive) }
}
