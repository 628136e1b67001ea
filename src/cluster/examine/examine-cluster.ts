import { clock } from '#base/clock.ts'
import type { ApiClient } from '../api-client.ts'
import { ApiUnreadable } from '../api-unreadable.ts'
import { AREAS, type Check, failure, ok, unknown } from './check.ts'
import { checkCertificates } from './check-certificates.ts'
import { checkController } from './check-controller.ts'
import { checkDefinitions } from './check-definitions.ts'
import { checkGateways, namespaceOf } from './check-gateways.ts'
import { checkAccount, checkInstaller } from './check-permissions.ts'
import { checkServer } from './check-server.ts'
import { checkWebhooks } from './check-webhooks.ts'
import { ClusterReader } from './cluster-reader.ts'
import { controllerRights } from './controller-rights.ts'
import { findControllers } from './find-controllers.ts'

export interface ExamineOptions {
  /** Where the controller is, or will be installed. */
  readonly controllerNamespace: string
  /** Whose Gateways are checked; none: all. */
  readonly namespaces: readonly string[]
  /** Of this program. */
  readonly version: string
  /** The file with the rights of the controller. */
  readonly rights: string
}

/** The names of a release with the usual name. */
const TO_INSTALL = { name: 'gatewright-controller', secret: 'gatewright-controller-authority' }

/** Checks a cluster before an installation or, if it has a controller, after one. Nothing is changed. */
export async function examineCluster(client: ApiClient, options: ExamineOptions): Promise<readonly Check[]> {
  const reader = new ClusterReader(client)
  try {
    const { checks, skewMs } = await checkServer(client)
    const [webhooks, definitions, installation] = await Promise.all([
      checkWebhooks(reader),
      checkDefinitions(reader),
      checkInstallation(reader, options, clock.now() + skewMs),
    ])
    const all = [...checks, webhooks, ...definitions, ...installation]
    return AREAS.flatMap((area) => all.filter((check) => check.area === area))
  } catch (error) {
    if (!(error instanceof ApiUnreadable)) throw error
    return [failure('server', error.message, 'check the address, the network and the credentials of the kubeconfig')]
  }
}

async function checkInstallation(
  reader: ClusterReader,
  options: ExamineOptions,
  nowMs: number,
): Promise<readonly Check[]> {
  const { controllerNamespace, namespaces, version, rights } = options
  const found = await findControllers(reader, controllerNamespace)
  if ('why' in found) return [unknown('controller', `Deployments in ${controllerNamespace}`, found.why)]
  if (found.value.length === 0) {
    const none = ok('controller', `none is installed in ${controllerNamespace}, so this checks whether one can be`)
    return [none, ...(await checkInstaller(reader, controllerNamespace, controllerRights(rights, TO_INSTALL)))]
  }
  const controllers = found.value
  const { checks, gateways } = await checkGateways(reader, controllers, namespaces)
  const runs = [...new Set(gateways.map(namespaceOf))]
  const ofControllers = controllers.map((controller) =>
    Promise.all([
      checkController(reader, controller, { version, nowMs }),
      checkAccount(reader, { ...controller, runs }, controllerRights(rights, controller)),
    ]),
  )
  const certificates = await checkCertificates(reader, { controllers, gateways, nowMs })
  return [...(await Promise.all(ofControllers)).flat(2), ...checks, ...certificates]
}
