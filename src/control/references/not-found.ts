import { findKind, type KindName } from '#api/kinds.ts'
import type { FindingCode } from '#base/findings.ts'
import { suggest } from '#base/suggest.ts'
import type { Inventory } from '../context/inventory.ts'

/** Larger namespaces are not searched: a suggestion is not worth comparing thousands of names at every change. */
const MOST_NAMES = 500

/** Why a reference names no object that is in use. */
interface Missing {
  readonly code: FindingCode
  readonly message: string
}

/** The object that a reference names, and the kinds that the reference could name instead; default: only its own. */
interface Wanted {
  readonly kind: KindName
  readonly namespace: string
  readonly name: string
  readonly accepted?: readonly KindName[]
}

/** A reference to an object that does not exist, or is not in use because of its own errors. @param code for objects that do not exist */
export function notFound(inventory: Inventory, code: FindingCode, wanted: Wanted): Missing {
  const { kind, namespace, name } = wanted
  const title = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`
  if (inventory.isRefused(kind, namespace, name)) return { code: 'object-refused', message: refusedText(title) }
  const hint =
    sameName(inventory, wanted) ?? inDefault(inventory, wanted) ?? nearestName(inventory, kind, namespace, name)
  return { code, message: `${title} not found${hint}` }
}

/** Kinds that users mistake for each other. */
const SIMILAR: readonly (readonly KindName[])[] = [
  ['Service', 'ProxyBackend'],
  ['Secret', 'ConfigMap'],
  ['Gateway', 'ListenerSet'],
  ['HTTPRoute', 'GRPCRoute', 'TCPRoute', 'TLSRoute'],
]

/** An object of another kind with the wanted name, which is probably meant. */
function sameName(inventory: Inventory, { kind, namespace, name, accepted = [kind] }: Wanted): string | undefined {
  const similar = SIMILAR.find((kinds) => kinds.includes(kind)) ?? []
  const exists = (other: KindName) =>
    other !== kind &&
    (inventory.find(other, namespace, name) !== undefined || inventory.isRefused(other, namespace, name))
  const usable = accepted.find(exists)
  if (usable !== undefined) {
    const { group } = findKind(usable)!
    const groupToo = group === findKind(kind)!.group ? '' : `group ${group === '' ? '""' : group} and `
    return `; for ${usable} ${namespace}/${name}, set ${groupToo}kind ${usable}`
  }
  const other = similar.find(exists)
  return other === undefined ? undefined : `; ${other} ${namespace}/${name} exists, but a ${kind} is required here`
}

/** An object without a namespace is in `default`. Other namespaces are not searched. */
function inDefault(inventory: Inventory, { kind, namespace, name }: Wanted): string | undefined {
  const isThere = namespace !== '' && namespace !== 'default' && inventory.find(kind, 'default', name) !== undefined
  return isThere ? '; there is one in namespace default' : undefined
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
