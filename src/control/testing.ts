import type { ApiObject } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import { Stages } from '#base/incremental/stage.ts'
import { UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import { DEFAULT_NAMES } from './context/controller.ts'
import type { TranslationContext } from './context/translation-context.ts'
import { grantStage } from './stages/grant-stage.ts'
import { contextOpener } from './stages/open-context.ts'
import { createTables, putObject } from './stages/tables.ts'

/** Runs a translation function on objects, as a node of a stage would. */
export function inContext<T>(
  objects: readonly ApiObject[],
  run: (context: TranslationContext) => T,
): { readonly result: T; readonly findings: readonly Finding[] } {
  const tables = createTables()
  for (const object of objects) putObject(tables, object)
  tables.always.put('all', '', [true])
  const stages = new Stages()
  stages.add(grantStage(tables))
  const openContext = contextOpener(tables, { names: DEFAULT_NAMES, tlsMaterial: UNCHECKED_MATERIAL })
  const results: T[] = []
  stages.add({
    name: 'test',
    each: [tables.always],
    writes: [tables.findings],
    run: (_, work) => void results.push(run(openContext(work))),
  })
  stages.update()
  return { result: results[0]!, findings: tables.findings.keys().flatMap((key) => tables.findings.rows(key)) }
}
