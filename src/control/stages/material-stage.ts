import type { ConfigMapObject } from '#api/config-map.ts'
import type { SecretObject } from '#api/secret.ts'
import { secretData } from '#api/secret-data.ts'
import type { StageDefinition } from '#base/incremental/stage.ts'
import type { ConfigMapItem, SecretItem } from '#plan/item.ts'
import { checkEnds } from '../references/check-ends.ts'
import { configMapData } from '../references/config-map-data.ts'
import type { OpenContext } from './open-context.ts'
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

/** Reports what ends in them. */
export function materialEndStage(tables: Tables, openContext: OpenContext): StageDefinition<true> {
  const { objects, wantedMaterial, findings, deadlines } = tables
  return {
    name: 'materialEnds',
    each: [wantedMaterial],
    writes: [findings, deadlines],
    run(_, work, key) {
      const { tlsMaterial, isPast, reportOn } = openContext(work)
      const check = (object: SecretObject | ConfigMapObject, data: Readonly<Record<string, string>>) => {
        const { namespace, name } = object.metadata
        const { validity } = tlsMaterial
        checkEnds(`${object.kind} ${namespace}/${name}`, data, { validity, isPast }, reportOn(object))
      }
      for (const secret of work.read(objects.Secret, key)) check(secret, secretData(secret))
      for (const map of work.read(objects.ConfigMap, key)) check(map, configMapData(map))
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
