import type { ConfigMapItem, SecretItem } from '#plan/item.ts'
import { compareText, type Inventory } from '../inventory.ts'
import { configMapData } from './config-map-data.ts'
import { secretData } from './secret-data.ts'

/**
 * Items for the Secrets and ConfigMaps that something refers to; no others leave the control plane.
 * @param keys `Secret/<namespace>/<name>` and `ConfigMap/<namespace>/<name>`
 */
export function materialItems(
  inventory: Inventory,
  keys: ReadonlySet<string>,
): readonly (SecretItem | ConfigMapItem)[] {
  return [...keys].sort(compareText).flatMap((key): (SecretItem | ConfigMapItem)[] => {
    const [kind, namespace = '', name = ''] = key.split('/')
    if (kind === 'ConfigMap') {
      const map = inventory.find('ConfigMap', namespace, name)
      if (map === undefined) return []
      return [{ kind: 'configmap', key, namespace, name, data: configMapData(map), origin: map.origin }]
    }
    const secret = inventory.find('Secret', namespace, name)
    if (secret === undefined) return []
    const labels = secret.metadata.labels ?? {}
    return [{ kind: 'secret', key, namespace, name, labels, data: secretData(secret), origin: secret.origin }]
  })
}
