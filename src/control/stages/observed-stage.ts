import { objectKey } from '#api/object.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import type { BackendFact } from '#plan/backend-fact.ts'
import { backendPath } from '#plan/backend-path.ts'
import type { BackendItem } from '#plan/item.ts'
import { reportTo } from './open-context.ts'
import type { Tables } from './tables.ts'

/** Reports the facts about backends that were observed in traffic. */
export function observedStage(tables: Tables): StageDefinition<BackendFact> {
  return {
    name: 'observed',
    each: [tables.facts],
    writes: [tables.findings],
    run([fact], work) {
      const [item] = work.read(tables.items, fact!.backend)
      if (item?.kind !== 'backend') return
      const { kind, namespace, name } = item.origin
      const found = work.read(tables.problems, objectKey(kind, namespace, name))
      // The check of the plan has found it without traffic.
      if (found.some(({ code }) => code === fact!.code)) return
      reportTo(tables, work)(item)(problemOf(item, fact!))
    },
  }
}

function problemOf(item: BackendItem, { code, at }: BackendFact): ConfigProblem {
  if (code === 'llm-path-not-completions') {
    const message = `requests for paths that end in ${at} are handled, and counted, as chat completions: backend.ai.routes is unset; set it for each kind of path`
    return { path: 'spec.ai', code, severity: 'warning', message }
  }
  const isService = item.type === 'service'
  const path = isService ? 'spec.ports' : backendPath(item)
  if (code === 'backend-is-gateway') {
    const message = `${at} leads to the admin server or the resource API of the gateway itself; requests get status 403`
    return { path, code, severity: 'error', message }
  }
  const remedy = isService
    ? 'set appProtocol of the port to http, or backend.http.version of a policy for the Service to HTTP1'
    : 'set policies.http.version to HTTP1'
  return {
    path,
    code,
    severity: 'warning',
    message: `requests are sent with HTTP/2, but the server at ${at} does not support it: ${remedy}`,
  }
}
