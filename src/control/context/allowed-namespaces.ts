import type { Inventory } from './inventory.ts'
import { type LabelSelector, selectorFault, selectsLabels } from './label-selector.ts'
import type { Report } from './reporting.ts'

/** `namespaces` of `allowedRoutes` and of `allowedListeners`. */
export interface AllowedNamespaces {
  readonly from: string
  readonly selector?: LabelSelector
}

/** `Selector` without a selector allows no namespace; with an empty selector it allows every namespace, as in Kubernetes. */
export function allowsNamespace(
  inventory: Inventory,
  { from, selector }: AllowedNamespaces,
  { own, namespace }: { readonly own: string; readonly namespace: string },
): boolean {
  switch (from) {
    case 'All':
      return true
    case 'Same':
      return namespace === own
    case 'Selector':
      return selector !== undefined && selectsLabels(selector, inventory.namespaceLabels(namespace))
    default:
      return false
  }
}

/** @param path path of the field `namespaces` */
export function reportAllowedNamespaces({ from, selector }: AllowedNamespaces, path: string, report: Report): void {
  if (from !== 'Selector') {
    const message = `has no effect while from is ${from}; set from to Selector`
    if (selector !== undefined) report({ path: `${path}.selector`, code: 'no-effect', message, severity: 'warning' })
    return
  }
  const fault = selector === undefined ? 'from is Selector but selector is unset' : selectorFault(selector)
  if (fault === undefined) return
  const message = `${fault}: no namespace is allowed`
  report({ path: `${path}.selector`, code: 'selector-invalid', message, severity: 'error' })
}
