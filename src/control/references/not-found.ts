import type { KindName } from '#api/kinds.ts'
import type { FindingCode } from '#base/findings.ts'
import { suggest } from '#base/suggest.ts'
import type { Inventory } from '../inventory.ts'

/** Larger namespaces are not searched: a suggestion is not worth comparing thousands of names at every change. */
const MOST_NAMES = 500

/** Why a reference names no object that is in use. */
interface Missing {
  readonly code: FindingCode
  readonly message: string
}

/** A reference to an object that does not exist, or is not in use because of its own errors. @param code for objects that do not exist */
export function notFound(
  inventory: Inventory,
  code: FindingCode,
  { kind, namespace, name }: { readonly kind: KindName; readonly namespace: string; readonly name: string },
): Missing {
  const title = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
  if (inventory.isRefused(kind, namespace, name)) return { code: 'object-refused', message: refusedText(title) }
  return { code, message: `${title} not found${nearestName(inventory, kind, namespace, name)}` }
}

/** About an object that is not in use because of its own errors. */
export function refusedText(title: string): string {
  return `${title} has errors and is not in use`
}

/** The name that is probably meant. */
function nearestName(inventory: Inventory, kind: KindName, namespace: string, name: string): string {
  const objects: readonly { readonly metadata: { readonly name: string } }[] = inventory.inNamespace(kind, namespace)
  if (objects.length > MOST_NAMES) return ''
  return didYouMean(
    name,
    objects.map(({ metadata }) => metadata.name),
  )
}

/** The end of a message about a section that does not exist: the one that is probably meant, or all. */
export function knownSections(name: string, known: readonly string[]): string {
  return didYouMean(name, known) || (known.length === 0 ? '; it has none' : `; it has ${known.join(', ')}`)
}

function didYouMean(name: string, candidates: readonly string[]): string {
  const nearest = suggest(name, candidates)
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`
}
