import type { ConfigProblem } from '#base/config-problem.ts'
import type { PolicyItem } from '#plan/item.ts'
import type { Mirror } from '#policies/route/request-mirror/run.ts'

/** Reports mirrors that get no copy, because no guard of their backend would check it. @param isGuarded by the key of a backend */
export function guardedMirrors(item: PolicyItem, isGuarded: (backend: string) => boolean): readonly ConfigProblem[] {
  if (item.field !== 'requestMirror') return []
  const mirrors = item.spec as readonly Mirror[]
  return mirrors
    .filter(({ backend, numerator }) => numerator > 0 && isGuarded(backend))
    .map(({ backend, path }) => {
      const message = `${backend} has prompt guards, which do not check copies, so it gets no copies; remove the filter, or mirror to a backend without promptGuard`
      return { path, code: 'mirror-guarded', message, severity: 'error' }
    })
}
