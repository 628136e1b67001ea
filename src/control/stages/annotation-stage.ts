import type { ApiObject } from '#api/object.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import { suggest } from '#base/suggest.ts'
import { itemPath } from '#schema/index.ts'
import { ANNOTATION_PREFIX, ANNOTATIONS_OF } from '../context/annotations.ts'
import { reportTo } from './open-context.ts'
import type { Tables } from './tables.ts'

/** Reports annotations with the prefix of this controller that it does not read: misspelled, or on an object of another kind. */
export function annotationStage(tables: Tables): StageDefinition<ApiObject> {
  return {
    name: 'annotations',
    each: [tables.annotated],
    writes: [tables.findings],
    run([object], work) {
      const { kind, metadata } = object!
      const report = reportTo(tables, work)(object!)
      const read = ANNOTATIONS_OF[kind] ?? []
      for (const name of Object.keys(metadata.annotations ?? {})) {
        if (!name.startsWith(ANNOTATION_PREFIX) || read.includes(name)) continue
        const path = itemPath('metadata.annotations', name)
        report({ path, code: 'annotation-unknown', message: describe(name, kind, read), severity: 'warning' })
      }
    },
  }
}

function describe(name: string, kind: string, read: readonly string[]): string {
  const kinds = Object.keys(ANNOTATIONS_OF).filter((other) => ANNOTATIONS_OF[other]!.includes(name))
  if (kinds.length > 0) return `has no effect on a ${kind}; it belongs on a ${kinds.join(' or ')}`
  // The prefix would make every name similar.
  const nearest = suggest(
    name.slice(ANNOTATION_PREFIX.length),
    read.map((known) => known.slice(ANNOTATION_PREFIX.length)),
  )
  const unknown = `has no effect: the gateway reads no annotation of this name`
  return nearest === undefined ? unknown : `${unknown}; did you mean "${ANNOTATION_PREFIX}${nearest}"?`
}
