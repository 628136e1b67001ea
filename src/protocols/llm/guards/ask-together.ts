import type { AskedVerdict } from './ask-service.ts'
import type { Guard, ServiceGuard } from './guard.ts'

/** @returns the first guard if it is a service, and if it only judges, its neighbours that only judge: none changes what another sees */
export function askedTogether(guards: readonly Guard[]): readonly ServiceGuard[] {
  const together: ServiceGuard[] = []
  for (const guard of guards) {
    if (guard.kind === 'regex' || (guard.service.masks && together.length > 0)) break
    together.push(guard)
    if (guard.service.masks) break
  }
  return together
}

/**
 * Asks guards about the same texts at the same time.
 * @param ask never rejects; `needless` is aborted when the verdict is not needed any more
 * @returns the verdicts in the order of the guards, up to the first that lets nothing pass
 */
export async function askTogether(
  guards: readonly ServiceGuard[],
  ask: (guard: ServiceGuard, needless: AbortSignal | undefined) => Promise<AskedVerdict>,
): Promise<readonly AskedVerdict[]> {
  const needless = guards.length > 1 ? new AbortController() : undefined
  const asked: AskedVerdict[] = []
  for (const pending of guards.map((guard) => ask(guard, needless?.signal))) {
    const answer = await pending
    asked.push(answer)
    const { kind } = answer.verdict
    if (kind !== 'reject' && kind !== 'failed') continue
    needless?.abort()
    break
  }
  return asked
}
