import { backendName } from '#exchange/backend-name.ts'
import type { LogMessage } from '#observe/log/application-log.ts'
import type { MetricsWriter } from '#observe/metrics/metrics-writer.ts'
import type { ToolChanges } from '#protocols/backend-protocol.ts'

/** Tools in one line of the log. */
const MAX_SHOWN = 64

/**
 * Counts and logs tools of MCP targets that have changed, and logs new ones that are refused. The form `name=digest` is that of the annotation
 * with which an operator accepts them.
 */
export function toolChangeReporter(metrics: MetricsWriter, log: LogMessage): (changes: ToolChanges) => void {
  return ({ backend, target, tools }) => {
    const name = backendName(backend)
    const report = (some: ToolChanges['tools'], message: string) => {
      if (some.length === 0) return
      const shown = some.slice(0, MAX_SHOWN).map((tool) => `${tool.name}=${tool.digest}`)
      const more = some.length > MAX_SHOWN ? { more: some.length - MAX_SHOWN } : {}
      log('proxy', 'warn', message, { backend: name, target, tools: shown.join(' '), ...more })
    }
    const changed = tools.filter(({ state }) => state === 'changed')
    if (changed.length > 0) metrics.series('mcpToolChanges', [name, target]).add(changed.length)
    report(
      changed.filter(({ isRefused }) => isRefused),
      'tools of an MCP target have changed; they are refused',
    )
    report(
      changed.filter(({ isRefused }) => !isRefused),
      'tools of an MCP target have changed',
    )
    report(
      tools.filter(({ state }) => state === 'new'),
      'tools of an MCP target are not accepted; they are refused',
    )
  }
}
