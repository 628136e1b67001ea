import { type ApiObject, objectKey } from '#api/object.ts'
import { clock } from '#base/clock.ts'
import type { Work } from '#base/incremental/stage.ts'
import { type Grants, pairKey } from '../context/grants.ts'
import type { Inventory } from '../context/inventory.ts'
import type { ReportOn } from '../context/reporting.ts'
import type { IsPast, TranslationContext } from '../context/translation-context.ts'
import type { Tables } from './tables.ts'

/** Creates the context of one node: reads through it become dependencies of the node, and reports become its findings. */
export type OpenContext = (work: Work) => TranslationContext

export function contextOpener(
  tables: Tables,
  { names, tlsMaterial }: Pick<TranslationContext, 'names' | 'tlsMaterial'>,
): OpenContext {
  return (work) => ({
    inventory: trackedInventory(tables, work),
    grants: trackedGrants(tables, work),
    names,
    reportOn: reportTo(tables, work),
    tlsMaterial,
    isPast: watchedTime(tables, work),
  })
}

function watchedTime({ deadlines, passed }: Tables, work: Work): IsPast {
  return (ms) => {
    if (clock.now() > ms) return true
    work.write(deadlines, `${ms}`, true)
    work.read(passed, `${ms}`)
    return false
  }
}

/** Writes problems to the findings of an object. */
export function reportTo({ findings }: Tables, work: Work): ReportOn {
  return ({ origin }) =>
    (problem) =>
      work.write(findings, objectKey(origin.kind, origin.namespace, origin.name), { origin, ...problem })
}

/** Records every read as a dependency of the node. */
function trackedInventory({ objects, ofNamespace, ofKind, refusedObjects }: Tables, work: Work): Inventory {
  const find: Inventory['find'] = (kind, namespace, name) =>
    work.read(objects[kind], objectKey(kind, namespace, name))[0]
  return {
    all: (kind) => work.read(ofKind, kind) as readonly ApiObject[] as never,
    inNamespace: (kind, namespace) => work.read(ofNamespace, `${kind}/${namespace}`) as readonly ApiObject[] as never,
    find,
    isRefused: (kind, namespace, name) => work.count(refusedObjects, objectKey(kind, namespace, name)) > 0,
    namespaceLabels: (namespace) => ({
      ...find('Namespace', '', namespace)?.metadata.labels,
      'kubernetes.io/metadata.name': namespace,
    }),
  }
}

/** References within one namespace are always permitted; others require a grant in the namespace of the target. */
function trackedGrants({ grants }: Tables, work: Work): Grants {
  const isGranted = (pair: string) => work.read(grants, pair).length > 0
  return (from, to) =>
    from.namespace === to.namespace || isGranted(pairKey(from, to)) || isGranted(pairKey(from, { ...to, name: '' }))
}
