import type { GuardSpec, PromptGuardSpec } from './ai-settings.ts'

/** `promptGuard`, ready to run. */
export interface PromptGuards {
  /** Requests are refused: some guard in force cannot be run. */
  readonly closed: boolean
}

/** Guards of which this version has none to run: whatever they would check must not pass unchecked. */
export function compileGuards(
  spec: PromptGuardSpec | undefined,
  report: (path: string, message: string) => void,
): PromptGuards | undefined {
  const request = spec?.request ?? []
  const response = spec?.response ?? []
  if (request.length + response.length === 0) return undefined
  for (const [direction, guards] of [['request', request] as const, ['response', response] as const]) {
    guards.forEach((guard, index) => {
      const kind = guardKind(guard)
      const path = `.promptGuard.${direction}[${index}].${kind}`
      report(path, `${kind} guards on a ${direction} are not implemented yet: every request is refused`)
    })
  }
  return { closed: true }
}

function guardKind(guard: GuardSpec): string {
  return Object.keys(guard).find((key) => key !== 'response') ?? ''
}
