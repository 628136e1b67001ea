import { type Refusal, reject } from '#exchange/outcome.ts'
import type { CompileContext, PolicySource } from '../../policy.ts'
import type { AuthForm } from './schema.ts'

/** Why a credential cannot be used as it is configured. */
export interface Unusable {
  readonly code: 'secret-missing' | 'credential-invalid' | 'credential-incomplete'
  /** Relative to the policy. */
  readonly path: string
  readonly why: string
}

export function isUnusable<T extends object>(result: T | Unusable): result is Unusable {
  return 'why' in result
}

/** The path of a problem: a backend without a policy has no fields for its credential. */
export function pathIn({ spec }: PolicySource<AuthForm>, path: string): string {
  return spec.implied === true ? '' : path
}

/** Reports the problem. @returns the refusal of every request, before anything is sent (decision A-36) */
export function refuseUnusable(
  source: PolicySource<AuthForm>,
  { code, path, why }: Unusable,
  context: CompileContext,
): Refusal {
  context.report(source, pathIn(source, path), { severity: 'error', code, message: `${why}; requests are refused` })
  return reject('backend-auth-failed', { detail: why })
}
