import type { BackendItem } from './item.ts'

/** Where the settings of a backend are in its object. */
export function backendPath({ type, path }: Pick<BackendItem, 'type' | 'path'>): string {
  return path ?? `spec.${type}`
}
