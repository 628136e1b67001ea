import { type BackendNeed, definePolicy } from '../../policy.ts'
import { compileHostRewrite } from './compile.ts'
import { type HostRewriteSpec, trafficHostRewrite } from './schema.ts'

export const hostRewrite = definePolicy({
  section: 'traffic',
  field: 'hostRewrite',
  schema: trafficHostRewrite,
  merge: 'replace',
  needs: neededBackends,
  compile: compileHostRewrite,
})

/** `Auto` leaves the host for IP addresses and sockets as it is (decision A-91). */
function neededBackends({ mode }: HostRewriteSpec): readonly BackendNeed[] {
  if (mode === 'None') return []
  return [{ path: '.mode', backendsWith: 'hostname', otherwise: 'they receive the host of the client' }]
}
