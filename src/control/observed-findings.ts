import type { Finding } from '#base/finding.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import type { PlanItem } from '#plan/item.ts'
import type { FindingCode } from './finding-code.ts'
import type { Translation } from './translation.ts'

/** What traffic has shown about the backends of a translation, as its authors are told. */
export function observedFindings(items: Translation['items'], facts: readonly BackendFact[]): readonly Finding[] {
  return facts.flatMap((fact) => {
    const item = items.get(fact.backend)
    return item?.kind === 'backend' ? [findingOf(item, fact)] : []
  })
}

function findingOf(item: PlanItem & { kind: 'backend' }, { code, endpoint }: BackendFact): Finding {
  const isService = item.type === 'service'
  const remedy = isService
    ? 'set appProtocol of the port to http, or backend.http.version of a policy for the Service to HTTP1'
    : 'set policies.http.version to HTTP1'
  return {
    origin: item.origin,
    path: isService ? 'spec.ports' : `spec.${item.type}`,
    code: code satisfies FindingCode,
    severity: 'warning',
    message: `the server at ${endpoint} does not speak the HTTP/2 that requests are sent in: ${remedy}`,
  }
}
