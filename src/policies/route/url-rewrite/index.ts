import { type BackendNeed, defineFilter } from '../../policy.ts'
import { compileUrlRewrite, type UrlRewriteSpec } from './compile.ts'

export const urlRewrite = defineFilter({
  field: 'urlRewrite',
  writtenAs: 'filter URLRewrite of the route rule',
  merge: 'replace',
  needs: neededBackends,
  compile: compileUrlRewrite,
})

/** An agent runtime has a path of its own (decision B91). */
function neededBackends({ path }: UrlRewriteSpec): readonly BackendNeed[] {
  if (path === undefined) return []
  return [{ path: '.path', backendsWith: 'target', otherwise: 'agent runtimes have one path' }]
}
