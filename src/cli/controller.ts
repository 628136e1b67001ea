import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { NotLoopback } from '#admin/admin-server.ts'
import { CONTROLLER_PORTS } from '#api/own-ports.ts'
import type { VariableName } from '#api/process-variables.ts'
import { parseDuration } from '#base/duration.ts'
import { PortInUse } from '#base/listen.ts'
import { openAccess } from '#cluster/api-access.ts'
import { readInCluster } from '#cluster/in-cluster.ts'
import { readKubeconfig } from '#cluster/kubeconfig.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { Controller } from '#instance/controller.ts'
import type { CertificateSource } from '#instance/controller-certificate.ts'
import { StateFolder, StateFolderUnusable } from '#instance/state-folder.ts'
import { VERSION } from '#instance/version.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import { availableAddress } from './any-address.ts'
import { controllerNames } from './controller-names.ts'
import { type Environment, readVariable } from './environment.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { InstanceLog } from './instance-log.ts'
import { type LogFlags, logSettings } from './log-settings.ts'
import { address, operatorAddresses } from './operator-addresses.ts'
import { proxyImage } from './proxy-image.ts'
import { STATE_FOLDER } from './state-path.ts'
import { type Surroundings, WHOLE_PROCESS } from './surroundings.ts'
import { UsageError } from './usage-error.ts'

export interface ControllerFlags extends LogFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: readonly string[]
  readonly bind: string
  readonly state?: string
}

/** Causes that the user can remove; they are no bugs. */
const START_FAILURES = [PortInUse, NotLoopback, StateFolderUnusable]

/** Where a controller runs by default: the namespace and the Service of the chart. */
const NAMESPACE = 'gatewright-system'
const SERVICE = 'gatewright-controller'

/** Of the certificate for proxies: 90 days, and the least. */
const LIFE_MS = 90 * 24 * 3_600_000
const LEAST_LIFE_MS = 5 * 60_000

/** Runs a controller on Kubernetes until it is stopped. */
export async function runController(flags: ControllerFlags, around: Surroundings = WHOLE_PROCESS): Promise<ExitCode> {
  const { environment } = around
  const settings = logSettings(flags, environment)
  const names = controllerNames(environment)
  const { access, namespace } = await accessOf(flags, environment)
  const log = new InstanceLog(new ApplicationLog(settings, around.openLog()))
  const signals = around.handleSignals()
  around.catchWarnings((fields) => log.message('workers', 'warn', 'runtime warning', fields))
  const service = readVariable(environment, 'GATEWRIGHT_CONTROLLER_SERVICE') ?? SERVICE
  const bind = availableAddress(flags.bind)
  const { admin, metrics, readiness } = operatorAddresses(environment, bind, CONTROLLER_PORTS)
  const delivery = address(environment, 'GATEWRIGHT_DELIVERY_ADDR', { host: bind, port: CONTROLLER_PORTS.delivery })
  let controller: Controller | undefined
  try {
    const state = new StateFolder(flags.state ?? STATE_FOLDER, flags.state !== undefined, (...line) =>
      log.message('store', ...line),
    )
    controller = new Controller(
      {
        access,
        names,
        namespaces: flags.namespace ?? namesIn(environment, 'GATEWRIGHT_NAMESPACES'),
        ...{ admin, metrics, readiness, delivery, state, namespace, service },
        hosts: namesIn(environment, 'GATEWRIGHT_CONTROLLER_HOSTS'),
        certificate: certificateSource(environment),
        // A container that was restarted is not the leader that ended there.
        identity: `${readVariable(environment, 'POD_NAME') ?? hostname()}_${randomUUID()}`,
        replicaHost: readVariable(environment, 'POD_IP'),
        settings: deploySettings(environment, `https://${service}.${namespace}.svc:${CONTROLLER_PORTS.delivery}`),
      },
      log,
    )
    controller.onQuit(() => signals.stop())
    // It waits for the API server.
    const hasStarted = await Promise.race([controller.start().then(() => true), signals.stopped.then(() => false)])
    if (hasStarted) log.controllerStarted({ api: access.server.href, ...controller.addresses }, controller.whyNotReady)
  } catch (error) {
    await controller?.close()
    if (!START_FAILURES.some((failure) => error instanceof failure)) throw error
    log.failed((error as Error).message)
    return EXIT.findings
  }
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

function namesIn(environment: Environment, name: VariableName): readonly string[] {
  return readVariable(environment, name)?.split(',') ?? []
}

function certificateSource(environment: Environment): CertificateSource {
  const life = readVariable(environment, 'GATEWRIGHT_CONTROLLER_CERTIFICATE_LIFE')
  // The form of the variable has been checked.
  const lifeMs = life === undefined ? LIFE_MS : parseDuration(life)!
  if (lifeMs < LEAST_LIFE_MS)
    throw new UsageError(
      'GATEWRIGHT_CONTROLLER_CERTIFICATE_LIFE must be at least 5m: proxies read a new authority within minutes',
    )
  return { secretName: readVariable(environment, 'GATEWRIGHT_CONTROLLER_CERTIFICATE_SECRET'), lifeMs }
}

function deploySettings(environment: Environment, controllerUrl: string) {
  const { image, audience, version } = defaultSettings(VERSION)
  return {
    audience,
    version,
    controllerUrl,
    image: proxyImage(environment, image),
  }
}
