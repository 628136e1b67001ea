import type { Exchange } from '#exchange/exchange.ts'
import { defineFilter, type SettingDefinition } from '../../policy.ts'
import { compileRequestMirror } from './compile.ts'
import type { Mirror } from './run.ts'

/** A rule may have several mirror filters. */
export const requestMirror = defineFilter({
  field: 'requestMirror',
  writtenAs: 'filter RequestMirror of the route rule',
  merge: 'accumulate',
  compile: compileRequestMirror,
})

/** The mirror filters of a `backendRef`. Copies are sent once, however many attempts the request needs. */
export const backendRefMirror: SettingDefinition<readonly Mirror[], ((exchange: Exchange) => void) | undefined> = {
  kind: 'setting',
  section: 'backend',
  field: 'requestMirror',
  writtenAs: 'filter RequestMirror of the backendRef',
  merge: 'replace',
  compile: (sources) => compileRequestMirror(sources)?.request,
}
