import type { ProxyParametersObject } from '#api/proxy-parameters.ts'
import { mergeKeysOf } from '#patch/merge-keys.ts'
import { applyStrategicMergePatch } from '#patch/strategic-merge-patch.ts'
import { CONTAINER, imageOf } from './container.ts'
import { type Manifest, type Step, valueAt } from './manifest.ts'
import type { DeploySettings } from './settings.ts'
import { mergeTypedFields } from './typed-fields.ts'

const IMAGE: readonly Step[] = ['spec', 'template', 'spec', 'containers', { name: CONTAINER }, 'image']

/** The image of the proxies of a Deployment. */
export function imageIn(deployment: Manifest): string | undefined {
  const image = valueAt(deployment, IMAGE)
  return typeof image === 'string' ? image : undefined
}

/** The same with another image. */
export function withImage(deployment: Manifest, image: string): Manifest {
  const patch = { spec: { template: { spec: { containers: [{ name: CONTAINER, image }] } } } }
  return applyStrategicMergePatch(deployment, patch, mergeKeysOf('Deployment')).value as Manifest
}

/** The image of a Deployment that the controller decides about; undefined: the parameters set a tag, a digest or an image of their own. */
export function decidedImage(
  deployment: Manifest,
  parameters: readonly ProxyParametersObject[],
  settings: DeploySettings,
): string | undefined {
  const fields = mergeTypedFields(parameters.map(({ spec }) => spec))
  if (fields.image.tag !== undefined || fields.image.digest !== undefined) return undefined
  const image = imageOf(settings, fields)
  return imageIn(deployment) === image ? image : undefined
}

/** Whether all proxies of a Deployment, as the API has it, run what it says and are ready (Kubernetes, "Deployment status"). */
export function isRolledOut(deployment: Manifest): boolean {
  const number = (path: readonly string[], otherwise: number) => Number(valueAt(deployment, path) ?? otherwise)
  const replicas = number(['spec', 'replicas'], 1)
  return (
    number(['status', 'observedGeneration'], 0) >= number(['metadata', 'generation'], 0) &&
    number(['status', 'updatedReplicas'], 0) >= replicas &&
    number(['status', 'availableReplicas'], 0) >= replicas
  )
}
