import type { DecidedBy } from '#exchange/decided-by.ts'
import type { Refusal } from '#exchange/outcome.ts'
import type { TextRule } from './rules/text-rule.ts'
import type { GuardPhase, GuardService } from './services/service.ts'

/** `promptGuard`, prepared (specification 2, 2.5). */
export interface PromptGuards {
  /** Set if some guard cannot run. The content that it would check must not pass, so all guarded requests are refused. */
  readonly closed: ClosedGuards | false
  /** In order. */
  readonly request: readonly Guard[]
  readonly response: readonly Guard[]
}

/** Why no request passes: the first guard that cannot run. */
export interface ClosedGuards {
  readonly decidedBy: DecidedBy
  /** For operators. */
  readonly detail: string
}

export type Guard = RegexGuard | ServiceGuard

interface GuardBase {
  readonly phase: GuardPhase
  /** Position in the list of its phase. */
  readonly index: number
  /** The response if the guard rejects, with its configured message and status. */
  readonly refusal: Refusal
}

export interface RegexGuard extends GuardBase {
  readonly kind: 'regex'
  readonly rules: readonly TextRule[]
  /** A match rejects; otherwise it is masked. */
  readonly rejects: boolean
}

export interface ServiceGuard extends GuardBase {
  readonly kind: GuardService['kind']
  readonly service: GuardService
}
