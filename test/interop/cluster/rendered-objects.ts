import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { JsonObject } from '#base/json.ts'
import { readCases } from '#test/cases/golden-case.ts'
import { showRendering } from '#test/cases/show-rendering.ts'
import { admitObject } from '#test/support/admit-object.ts'
import type { Part } from '../run-parts.ts'
import { restrictedNamespace, runningCluster } from './running-cluster.ts'

const NAMESPACE = 'gatewright-rendered'
const CASES = join(import.meta.dirname, '..', '..', 'cases', 'render')

/**
 * Objects that run proxies, of all golden cases, as the API server would store them: it accepts them, changes nothing, and their Pods fit the restricted
 * standard unless parameters say otherwise.
 */
export const checkRenderedObjects: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  await restrictedNamespace(cluster, NAMESPACE, stops)
  for (const { name, given } of readCases(CASES)) {
    const { objects = {} } = showRendering(given.map(admitObject))
    const items = Object.values(objects as Readonly<Record<string, JsonObject>>).map((object) => ({
      ...object,
      metadata: { ...(object.metadata as JsonObject), namespace: NAMESPACE },
    }))
    if (items.length === 0) continue
    const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
    const { code, output } = await cluster.kubectl(['create', '--dry-run=server', '-o', 'yaml', '-f', '-'], list)
    if (code !== 0) {
      transcript.check(name, output, '')
      continue
    }
    const warnings = output.match(/^Warning: .*$/gm)
    if (name === 'defaults') transcript.check('no warnings', warnings, null)
    const stored = parseAllDocuments(output.replace(/^Warning: .*$/gm, '')).map((document) => document.toJS())
    transcript.check(name, differences(items, stored, ''), [])
  }
}

/** Paths of values that were sent and are stored otherwise; what the API server adds is none. */
function differences(sent: unknown, stored: unknown, path: string): string[] {
  if (typeof sent !== 'object' || sent === null) {
    // A quantity that was sent as a number is stored as text.
    return sent === stored || (typeof sent === 'number' && stored === `${sent}`)
      ? []
      : [`${path}: ${JSON.stringify(sent)} is stored as ${JSON.stringify(stored)}`]
  }
  const members = (stored ?? {}) as Readonly<Record<string, unknown>>
  return Object.entries(sent).flatMap(([name, value]) => differences(value, members[name], `${path}/${name}`))
}
