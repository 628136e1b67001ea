import { join } from 'node:path'
import { CHARTS } from './charts.ts'
import { installGatewayApi } from './gateway-api.ts'
import { importOwnImage, REPOSITORY, TAG } from './image.ts'
import { type RunningCluster, restrictedNamespace } from './running-cluster.ts'

/** The class of Gateways that the controller serves, and the Deployment that runs it. */
export const GATEWAY_CLASS = 'gatewright'
export const CONTROLLER = 'gatewright-controller'

/**
 * Installs the definitions of the Gateway API, the image of this checkout and both charts in a namespace with the restricted standard, and waits until
 * the controller is ready. The controller is removed with `stops`, after what was started later; the definitions stay.
 * @param values more words for `helm install`
 * @throws Error with what Helm said
 */
export async function installController(
  cluster: RunningCluster,
  namespace: string,
  stops: AsyncDisposableStack,
  values: readonly string[] = [],
): Promise<void> {
  const helm = async (...words: readonly string[]) => {
    const { code, output } = await cluster.helm([...words, '-n', namespace])
    if (code !== 0) throw new Error(`helm ${words[0]}: ${output}`)
  }
  await installGatewayApi(cluster)
  await importOwnImage(cluster)
  await restrictedNamespace(cluster, namespace, stops)
  stops.defer(async () => {
    // Only a running controller removes the finalizer of its class.
    await cluster.kubectl(['delete', 'gatewayclass', GATEWAY_CLASS, '--ignore-not-found', '--timeout=30s'])
    await cluster.helm(['uninstall', 'gatewright', '-n', namespace])
  })
  await helm('upgrade', '--install', 'gatewright-crds', join(CHARTS, 'gatewright-crds'), '--take-ownership')
  const image = `image.registry=,image.repository=${REPOSITORY},image.tag=${TAG}`
  const words = ['--set', image, ...values, '--wait', '--timeout', '2m']
  await helm('install', 'gatewright', join(CHARTS, 'gatewright'), ...words)
}
