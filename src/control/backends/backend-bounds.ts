import type { ObjectMeta } from '#api/object-meta.ts'
import type { BackendItem } from '#plan/item.ts'
import { itemPath } from '#schema/index.ts'
import { ANNOTATION } from '../context/annotations.ts'
import type { Report } from '../context/reporting.ts'

type Bounds = NonNullable<BackendItem['bounds']>

/** Annotations of a ProxyBackend or Service (docs/behaviour/wire.md, "Limits"). */
const ANNOTATIONS: readonly { readonly name: string; readonly bound: keyof Bounds; readonly min: number }[] = [
  { name: ANNOTATION.maxConnections, bound: 'maxConnections', min: 1 },
  { name: ANNOTATION.maxWaitingRequests, bound: 'maxWaiting', min: 0 },
]
const MAX = 1_000_000

/** The limits per worker of each endpoint of a backend. An invalid value is reported, and the default applies. */
export function backendBounds({ annotations = {} }: ObjectMeta, report: Report): BackendItem['bounds'] {
  const bounds: { -readonly [Bound in keyof Bounds]: Bounds[Bound] } = {}
  for (const { name, bound, min } of ANNOTATIONS) {
    const text = annotations[name]
    if (text === undefined) continue
    const value = /^\d{1,7}$/.test(text) ? Number(text) : -1
    if (value >= min && value <= MAX) bounds[bound] = value
    else {
      report({
        path: itemPath('metadata.annotations', name),
        code: 'annotation-value',
        message: `must be a whole number from ${min} to ${MAX}; the default applies`,
        severity: 'error',
      })
    }
  }
  return Object.keys(bounds).length === 0 ? undefined : bounds
}
