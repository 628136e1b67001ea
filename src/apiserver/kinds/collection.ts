/** The name of the objects of a kind, whatever their version: `gateways.gateway.networking.k8s.io`, `services`. */
export function collectionOf({ group, plural }: { readonly group: string; readonly plural: string }): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** `gatewright.dev/v1alpha1`, or `v1` for the core group. */
export function groupVersion({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`
}
