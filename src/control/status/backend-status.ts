import type { Finding } from '#base/finding.ts'
import type { TranslatedBackend } from '../backends/translate-backend.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'

/** `status` of a ProxyBackend (specification 1, 2.3; decision A-37). */
export function backendStatus({ object, item }: TranslatedBackend, findings: readonly Finding[]) {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const unreachable = findings.filter(({ code }) => code === 'backend-not-http2')
  return { conditions: [accepted(object, item.broken, errors), ...unreachable.map((it) => notReachable(object, it))] }
}

/** Only traffic shows whether a server supports the protocol, so the condition exists only after a failure. */
function notReachable(object: TranslatedBackend['object'], { message }: Finding): ConditionDraft {
  return conditionsOf(object)('Reachable', 'False', 'NotHTTP2', message)
}

function accepted(
  object: TranslatedBackend['object'],
  broken: string | undefined,
  errors: readonly Finding[],
): ConditionDraft {
  const condition = conditionsOf(object)
  if (broken !== undefined) {
    return condition('Accepted', 'False', 'TranslationError', `failed to translate backend: ${broken}`)
  }
  if (errors.length === 0) return condition('Accepted', 'True', 'Accepted', 'Backend successfully accepted')
  const lines = [...new Set(errors.map(({ path, message }) => `${path}: ${message}`))].join('\n')
  return condition('Accepted', 'True', 'PartiallyValid', lines)
}
