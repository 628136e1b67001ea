import type { GuardCheck } from './exchange.ts'

/** The field of a prompt guard: `promptGuard.request[1]`. */
export function guardName({ phase, index }: Pick<GuardCheck, 'phase' | 'index'>): string {
  return `promptGuard.${phase}[${index}]`
}
