import type { DeploySettings } from '#deploy/settings.ts'
import { type Environment, readVariable } from './environment.ts'

/** The image of proxies whose ProxyParameters set no other. A registry that is empty is none: the repository has it, or the node a default. */
export function proxyImage(environment: Environment, defaults: DeploySettings['image']): DeploySettings['image'] {
  return {
    registry: environment.GATEWRIGHT_PROXY_IMAGE_REGISTRY ?? defaults.registry,
    repository: readVariable(environment, 'GATEWRIGHT_PROXY_IMAGE_REPOSITORY') ?? defaults.repository,
    tag: readVariable(environment, 'GATEWRIGHT_PROXY_IMAGE_TAG') ?? defaults.tag,
  }
}
