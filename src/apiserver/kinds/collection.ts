export { collectionOf } from '#api/collection.ts'

/** `gatewright.dev/v1alpha1`, or `v1` for the core group. */
export function groupVersion({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`
}
