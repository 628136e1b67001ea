import type { KindName } from '#api/kinds.ts'
import { suggest } from '#base/suggest.ts'
import type { Inventory } from '../inventory.ts'

/** Larger namespaces are not searched: a suggestion is not worth comparing thousands of names at every change. */
const MOST_NAMES = 500

/** The message about a reference to an object that does not exist, with the name that is probably meant. */
export function notFound(inventory: Inventory, kind: KindName, namespace: string, name: string): string {
  const message = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name} not found`
  const objects: readonly { readonly metadata: { readonly name: string } }[] = inventory.inNamespace(kind, namespace)
  if (objects.length > MOST_NAMES) return message
  return (
    message +
    didYouMean(
      name,
      objects.map(({ metadata }) => metadata.name),
    )
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
