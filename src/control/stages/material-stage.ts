import type { ConfigMapObject } from '#api/config-map.ts'
import type { SecretObject } from '#api/secret.ts'
import { secretData } from '#api/secret-data.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import type { ConfigMapItem, SecretItem } from '#plan/item.ts'
import { configMapData } from '../references/config-map-data.ts'
import type { Tables } from './tables.ts'

/** Writes items for the Secrets and ConfigMaps that other objects refer to. No others reach the data plane. */
export function materialStage({ objects, wantedMaterial, items }: Tables): StageDefinition<true> {
  return {
    name: 'material',
    each: [wantedMaterial],
    writes: [items],
    run(_, work, key) {
      const [secret] = work.read(objects.Secret, key)
      if (secret !== undefined) work.write(items, key, secretItem(key, secret))
      const [map] = work.read(objects.ConfigMap, key)
      if (map !== undefined) work.write(items, key, configMapItem(key, map))
    },
  }
}

function secretItem(key: string, secret: SecretObject): SecretItem {
  const { namespace, name, labels = {} } = secret.metadata
  return { kind: 'secret', key, namespace, name, labels, data: secretData(secret), origin: secret.origin }
}

function configMapItem(key: string, map: ConfigMapObject): ConfigMapItem {
  const { namespace, name } = map.metadata
  return { kind: 'configmap', key, namespace, name, data: configMapData(map), origin: map.origin }
}
