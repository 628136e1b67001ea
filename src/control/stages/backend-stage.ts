import type { ProxyBackendObject } from '#api/proxy-backend.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import { translateBackend } from '../backends/translate-backend.ts'
import { targetsOfUse } from '../context/use.ts'
import type { OpenContext } from './open-context.ts'
import { fieldTables } from './policy-stages.ts'
import type { Tables } from './tables.ts'
import { writeFields } from './write-policies.ts'

/** Translates each ProxyBackend. */
export function backendStage(tables: Tables, openContext: OpenContext): StageDefinition<ProxyBackendObject> {
  const { backends, enclosing, callers, wantedBackends, items } = tables
  return {
    name: 'backends',
    each: [tables.objects.ProxyBackend],
    writes: [backends, enclosing, ...fieldTables(tables)],
    run([object], work, key) {
      const context = openContext(work)
      const translated = translateBackend(context, object!, context.reportOn(object!))
      work.write(backends, key, translated)
      work.write(items, key, translated.item)
      writeFields(tables, work, translated.fields)
      for (const section of translated.sections) work.write(enclosing, `${key}/${section}`, key)
      for (const use of translated.uses) {
        for (const target of targetsOfUse(use)) work.write(callers, target, use.from)
        work.write(wantedBackends, use.to, true)
      }
    },
  }
}
