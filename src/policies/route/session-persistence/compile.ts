import { toByteText } from '#base/byte-text.ts'
import { parseDuration } from '#base/duration.ts'
import { sha256OfByteText } from '#base/sha256.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import { nameSession, readSession, type SessionPlan } from './run.ts'

/** `sessionPersistence` of a route rule (Gateway API, SessionPersistence). */
export interface SessionPersistenceSpec {
  readonly sessionName?: string
  readonly absoluteTimeout?: string
  readonly idleTimeout?: string
  readonly type: 'Cookie' | 'Header'
  readonly cookieConfig?: { readonly lifetimeType: 'Session' | 'Permanent' }
}

export function compileSessionPersistence(
  sources: readonly PolicySource<SessionPersistenceSpec>[],
  context: CompileContext,
): PolicyRun {
  const { spec, target } = sources[0]!
  const isCookie = spec.type === 'Cookie'
  const plan: SessionPlan = {
    rule: target,
    name: spec.sessionName ?? (isCookie ? cookieNameOf(target) : HEADER),
    isCookie,
    isPermanent: isCookie && spec.cookieConfig?.lifetimeType === 'Permanent',
    absoluteMs: timeoutOf(spec.absoluteTimeout),
    idleMs: timeoutOf(spec.idleTimeout),
    sealer: context.sealer,
  }
  const lowerName = plan.name.toLowerCase()
  return {
    request: (exchange) => readSession(plan, exchange),
    response: (exchange) => nameSession(plan, exchange),
    fields: isCookie
      ? { request: ['cookie'], response: ['set-cookie'] }
      : { request: [lowerName], response: [lowerName] },
  }
}

const HEADER = 'gatewright-session'

/** Rules have cookies of their own: a request may have those of several, because their paths overlap. */
function cookieNameOf(target: string): string {
  return `${HEADER}-${sha256OfByteText(toByteText(target)).slice(0, 8)}`
}

function timeoutOf(text: string | undefined): number {
  return text === undefined ? Number.POSITIVE_INFINITY : parseDuration(text)!
}
