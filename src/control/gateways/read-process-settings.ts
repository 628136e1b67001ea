import type { KindName } from '#api/kinds.ts'
import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { DEFAULT_NAMES } from '../context/controller.ts'
import { inventoryOf } from '../context/inventory.ts'
import { type ProcessSettings, settingsOf } from './process-settings.ts'
import { isOwnClass } from './resolve-gateways.ts'
import { resolveParameters } from './resolve-parameters.ts'

/** The settings of a process that serves all Gateways. */
export interface SharedSettings extends ProcessSettings {
  /** Settings that a later Gateway has with another value. */
  readonly differing: readonly { readonly gateway: string; readonly setting: string }[]
}

/**
 * Reads the settings of the process from the parameters of all Gateways of this controller. For each setting, the first Gateway that has
 * it decides, in the order of namespaces and names.
 */
export function readProcessSettings(objects: readonly ApiObject[]): SharedSettings {
  const inventory = inventoryOf(objects)
  const variables: Record<string, string> = {}
  let workers: number | undefined
  const differing: { gateway: string; setting: string }[] = []
  for (const gateway of inventory.all('Gateway')) {
    if (!isOwnClass(inventory, DEFAULT_NAMES, gateway.spec.gatewayClassName)) continue
    const parameters = resolveParameters(inventory, gateway, () => {}).objects.map(({ spec }) => spec)
    const settings = settingsOf(parameters)
    const { namespace, name } = gateway.metadata
    const differs = (setting: string) => differing.push({ gateway: `${namespace}/${name}`, setting })
    for (const [variable, value] of Object.entries(settings.variables)) {
      variables[variable] ??= value
      if (variables[variable] !== value) differs(variable)
    }
    workers ??= settings.workers
    if (settings.workers !== undefined && settings.workers !== workers) differs('workers')
  }
  return { variables, workers, differing }
}

/** The kinds whose objects `readProcessSettings` reads. */
const READ_KINDS = new Set(['GatewayClass', 'Gateway', 'ProxyParameters'] satisfies KindName[] as string[])

/** Whether the settings of the process may be others after this change. */
export function mayChangeProcessSettings({ set, removed }: ObjectChange): boolean {
  const isRead = ({ kind }: ApiObject) => READ_KINDS.has(kind)
  return set.some(isRead) || removed.some(isRead)
}
