import { PortInUse } from '#base/listen.ts'
import { openAccess } from '#cluster/api-access.ts'
import { ApiClient } from '#cluster/api-client.ts'
import { readInCluster } from '#cluster/in-cluster.ts'
import { readKubeconfig } from '#cluster/kubeconfig.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { Controller } from '#instance/controller.ts'
import { VERSION } from '#instance/version.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import { controllerNames } from './controller-names.ts'
import { type Environment, readVariable } from './environment.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { InstanceLog } from './instance-log.ts'
import { type LogFlags, logSettings } from './log-settings.ts'
import { type Surroundings, WHOLE_PROCESS } from './surroundings.ts'

export interface ControllerFlags extends LogFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: readonly string[]
  readonly bind: string
}

/** Ports of a controller (its Service and probes name them). */
const DELIVERY_PORT = 9978
const HEALTH_PORT = 9093
const METRICS_PORT = 9092

/** Where a controller runs by default: the namespace and the Service of the chart. */
const NAMESPACE = 'gatewright-system'
const SERVICE = 'gatewright-controller'

/** Runs a controller on Kubernetes until it is stopped. */
export async function runController(flags: ControllerFlags, around: Surroundings = WHOLE_PROCESS): Promise<ExitCode> {
  const { environment } = around
  const settings = logSettings(flags, environment)
  const names = controllerNames(environment)
  const { access, namespace } = await accessOf(flags, environment)
  using client = new ApiClient(access)
  const log = new InstanceLog(new ApplicationLog(settings, around.openLog()))
  const signals = around.handleSignals()
  around.catchWarnings((fields) => log.message('workers', 'warn', 'runtime warning', fields))
  const service = readVariable(environment, 'GATEWRIGHT_CONTROLLER_SERVICE') ?? SERVICE
  const at = (port: number) => ({ host: flags.bind, port })
  let controller: Controller
  try {
    controller = await Controller.start(
      {
        client,
        names,
        namespaces: flags.namespace ?? namespacesOf(environment),
        delivery: at(DELIVERY_PORT),
        health: at(HEALTH_PORT),
        metrics: at(METRICS_PORT),
        namespace,
        service,
        settings: deploySettings(environment, `https://${service}.${namespace}.svc:${DELIVERY_PORT}`),
      },
      log,
    )
  } catch (error) {
    if (!(error instanceof PortInUse)) throw error
    log.failed(error.message)
    return EXIT.findings
  }
  log.controllerStarted({ api: client.server, ...controller.ports }, controller.whyNotReady)
  await signals.stopped
  log.stopping({ minMs: 0, maxMs: 0 })
  await controller.close()
  log.stopped()
  return EXIT.ok
}

async function accessOf({ kubeconfig, context }: ControllerFlags, environment: NodeJS.ProcessEnv) {
  if (kubeconfig === undefined) return readInCluster(environment)
  return {
    access: await openAccess(readKubeconfig(kubeconfig, context)),
    namespace: readVariable(environment, 'POD_NAMESPACE') ?? NAMESPACE,
  }
}

function namespacesOf(environment: Environment): readonly string[] {
  return readVariable(environment, 'GATEWRIGHT_NAMESPACES')?.split(',') ?? []
}

function deploySettings(environment: Environment, controllerUrl: string) {
  const { image, audience, version } = defaultSettings(VERSION)
  return {
    audience,
    version,
    controllerUrl,
    image: {
      registry: readVariable(environment, 'GATEWRIGHT_PROXY_IMAGE_REGISTRY') ?? image.registry,
      repository: readVariable(environment, 'GATEWRIGHT_PROXY_IMAGE_REPOSITORY') ?? image.repository,
      tag: readVariable(environment, 'GATEWRIGHT_PROXY_IMAGE_TAG') ?? image.tag,
    },
  }
}
