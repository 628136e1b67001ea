import type { McpSelectorSpec } from '#api/proxy-backend.ts'
import type { ServiceObject } from '#api/service.ts'
import { compareText } from '#base/compare-text.ts'
import type { Inventory } from '../context/inventory.ts'
import { type LabelSelector, labelMatcher } from '../context/label-selector.ts'

/** The Services that a selector of MCP targets selects, sorted by namespace and name. */
export function selectServices(
  inventory: Inventory,
  ownNamespace: string,
  { namespaces, services = {} }: McpSelectorSpec,
): readonly ServiceObject[] {
  const matches = labelMatcher(services)
  const all = namespaces === undefined ? inventory.inNamespace('Service', ownNamespace) : inventory.all('Service')
  const isSearched = namespaces === undefined ? () => true : namespaceMatcher(inventory, namespaces)
  return candidatesOf(all, services)
    .filter(({ metadata }) => matches(metadata.labels ?? {}) && isSearched(metadata.namespace))
    .toSorted(
      (a, b) =>
        compareText(a.metadata.namespace, b.metadata.namespace) || compareText(a.metadata.name, b.metadata.name),
    )
}

/** Asks once for each namespace. */
function namespaceMatcher(inventory: Inventory, selector: LabelSelector): (namespace: string) => boolean {
  const matches = labelMatcher(selector)
  const known = new Map<string, boolean>()
  return (namespace) => {
    const found = known.get(namespace) ?? matches(inventory.namespaceLabels(namespace))
    known.set(namespace, found)
    return found
  }
}

type ByLabel = ReadonlyMap<string, readonly ServiceObject[]>

/** Indexes by list of Services, so that many selectors over many Services do not each look at all of them. */
const INDEXES = new WeakMap<readonly ServiceObject[], ByLabel>()

/** The Services with one of the labels that must match: the rarest one. */
function candidatesOf(all: readonly ServiceObject[], { matchLabels = {} }: LabelSelector): readonly ServiceObject[] {
  const wanted = Object.entries(matchLabels)
  if (wanted.length === 0) return all
  const index = indexOf(all)
  return wanted
    .map(([key, value]) => index.get(labelText(key, value)) ?? [])
    .reduce((rarest, list) => (list.length < rarest.length ? list : rarest))
}

function indexOf(all: readonly ServiceObject[]): ByLabel {
  const known = INDEXES.get(all)
  if (known !== undefined) return known
  const index = new Map<string, ServiceObject[]>()
  for (const service of all) {
    for (const [key, value] of Object.entries(service.metadata.labels ?? {})) {
      const text = labelText(key, value)
      const list = index.get(text)
      if (list === undefined) index.set(text, [service])
      else list.push(service)
    }
  }
  INDEXES.set(all, index)
  return index
}

/** Neither keys nor values of labels contain `=`. */
function labelText(key: string, value: string): string {
  return `${key}=${value}`
}
