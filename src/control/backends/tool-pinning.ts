import type { ObjectMeta } from '#api/object-meta.ts'
import type { BackendItem } from '#plan/item.ts'
import { itemPath } from '#schema/index.ts'
import { ANNOTATION } from '../context/annotations.ts'
import type { Report } from '../context/reporting.ts'

type ToolPinning = NonNullable<Extract<BackendItem, { readonly type: 'mcp' }>['spec']['toolPinning']>

const MODES = ['Report', 'Refuse']

/** `name=digest`, or only the digest, which includes the name. */
const ACCEPTED = /^(?:.*=)?([0-9a-f]{32})$/

/** Annotations of a ProxyBackend (docs/behaviour/mcp-a2a.md, "Changed tools"). With an invalid value, tools that have changed are refused. */
export function toolPinning({ annotations = {} }: ObjectMeta, isMcp: boolean, report: Report): ToolPinning | undefined {
  const mode = annotations[ANNOTATION.mcpToolPinning]
  const accepted = annotations[ANNOTATION.mcpAcceptedTools]
  const say = (name: string, code: 'annotation-value' | 'no-effect', message: string) => {
    const severity = code === 'no-effect' ? 'warning' : 'error'
    report({ path: itemPath('metadata.annotations', name), code, message, severity })
  }
  if (!isMcp) {
    for (const name of [ANNOTATION.mcpToolPinning, ANNOTATION.mcpAcceptedTools]) {
      if (annotations[name] !== undefined) say(name, 'no-effect', 'has no effect: the backend has no MCP targets')
    }
    return undefined
  }
  if (mode !== undefined && !MODES.includes(mode)) {
    say(ANNOTATION.mcpToolPinning, 'annotation-value', `must be ${MODES.join(' or ')}; changed tools are refused`)
  }
  if (mode === undefined || mode === 'Report') {
    if (accepted !== undefined) {
      const message = `has no effect without ${ANNOTATION.mcpToolPinning}: Refuse`
      say(ANNOTATION.mcpAcceptedTools, 'no-effect', message)
    }
    return undefined
  }
  if (accepted === undefined) return {}
  const entries = accepted.split(/[\s,]+/).filter((entry) => entry !== '')
  const digests = entries.flatMap((entry) => ACCEPTED.exec(entry)?.[1] ?? [])
  if (digests.length < entries.length) {
    const wrong = entries.find((entry) => !ACCEPTED.test(entry)) ?? ''
    const message = `${JSON.stringify(wrong.slice(0, 64))} is not a digest of 32 hexadecimal digits; it accepts no tool`
    say(ANNOTATION.mcpAcceptedTools, 'annotation-value', message)
  }
  return { accepted: digests }
}
