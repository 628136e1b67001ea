import type { ObjectMeta } from '#api/object-meta.ts'
import type { BackendItem } from '#plan/item.ts'
import { itemPath } from '#schema/index.ts'
import { OWN_GROUP } from '../controller.ts'
import type { Report } from '../reporting.ts'

type Bounds = NonNullable<BackendItem['bounds']>

/** Annotations of a ProxyBackend or Service (docs/behaviour/wire.md, "Limits"); the specification has no fields for them. */
const ANNOTATIONS: readonly { readonly name: string; readonly bound: keyof Bounds; readonly least: number }[] = [
  { name: `${OWN_GROUP}/max-connections`, bound: 'maxConnections', least: 1 },
  { name: `${OWN_GROUP}/max-waiting-requests`, bound: 'maxWaiting', least: 0 },
]
const MOST = 1_000_000

/** How much of a worker each endpoint of a backend may take. What is no number is reported, and the default holds. */
export function backendBounds({ annotations = {} }: ObjectMeta, report: Report): BackendItem['bounds'] {
  const bounds: { -readonly [Bound in keyof Bounds]: Bounds[Bound] } = {}
  for (const { name, bound, least } of ANNOTATIONS) {
    const text = annotations[name]
    if (text === undefined) continue
    const value = /^\d{1,7}$/.test(text) ? Number(text) : -1
    if (value >= least && value <= MOST) bounds[bound] = value
    else {
      report({
        path: itemPath('metadata.annotations', name),
        code: 'annotation-value',
        message: `must be a whole number from ${least} to ${MOST}; the default applies`,
        severity: 'error',
      })
    }
  }
  return Object.keys(bounds).length === 0 ? undefined : bounds
}
