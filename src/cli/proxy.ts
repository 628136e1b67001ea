import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { parse } from 'yaml'
import { NotLoopback } from '#admin/admin-server.ts'
import { parseDuration } from '#base/duration.ts'
import { PortInUse } from '#base/listen.ts'
import { settingsOf, settingsProblems } from '#control/gateways/process-settings.ts'
import { ProxyInstance, type ProxyInstanceOptions } from '#instance/proxy-instance.ts'
import { StateFolder, StateFolderUnusable } from '#instance/state-folder.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import { availableAddress } from './any-address.ts'
import { dataPlaneOptions } from './data-plane-options.ts'
import { type Environment, readVariable } from './environment.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { InstanceLog } from './instance-log.ts'
import { type ListenFlags, listenAddresses } from './listen-addresses.ts'
import { type LogFlags, logSettings } from './log-settings.ts'
import { meshSource } from './mesh-source.ts'
import { operatorAddresses } from './operator-addresses.ts'
import { STATE_FOLDER } from './state-path.ts'
import { type Surroundings, WHOLE_PROCESS } from './surroundings.ts'
import { UsageError } from './usage-error.ts'

export interface ProxyFlags extends LogFlags, Pick<ListenFlags, 'bind'> {
  readonly controller: string
  readonly controllerCa?: string
  readonly controllerToken?: string
  readonly config?: string
  readonly workers?: string | undefined
  readonly state?: string
}

/** Causes that the user can remove; they are no bugs. */
const START_FAILURES = [PortInUse, NotLoopback, StateFolderUnusable]

/** Runs a data plane with the plan of a controller until it is stopped. */
export async function runProxy(flags: ProxyFlags, around: Surroundings = WHOLE_PROCESS): Promise<ExitCode> {
  const { environment } = around
  const fromFile = flags.config === undefined ? undefined : readConfig(flags.config)
  // The environment takes precedence, as it does over ProxyParameters.
  for (const [name, value] of Object.entries(fromFile?.variables ?? {})) environment[name] ||= value
  const settings = logSettings(flags, environment)
  const workers = flags.workers ?? fromFile?.workers?.toString()
  const { bind } = listenAddresses({ bind: availableAddress(flags.bind) })
  const { controllerCa, controllerToken } = flags
  const { admin, metrics, readiness } = operatorAddresses(environment, bind)
  const options = {
    ...dataPlaneOptions(workers, settings, environment),
    ...{ bind, admin, metrics, readiness, startThread: around.startThread },
    identity: environment.POD_NAME ?? hostname(),
    ...keptPlan(environment),
    mesh: meshSource(environment),
    controller: {
      url: flags.controller,
      ...(controllerCa !== undefined && { caFile: controllerCa }),
      ...(controllerToken !== undefined && { tokenFile: controllerToken }),
    },
  }
  const log = new InstanceLog(new ApplicationLog(settings, around.openLog()))
  const signals = around.handleSignals()
  around.catchWarnings((fields) => log.message('workers', 'warn', 'runtime warning', fields))
  let proxy: ProxyInstance
  try {
    const state = new StateFolder(flags.state ?? STATE_FOLDER, flags.state !== undefined, (...line) =>
      log.message('store', ...line),
    )
    proxy = await ProxyInstance.start({ ...options, state }, log)
  } catch (error) {
    if (!START_FAILURES.some((failure) => error instanceof failure)) throw error
    log.failed((error as Error).message)
    return EXIT.findings
  }
  const memoryOfStart = around.releaseMemoryOfStart()
  signals.onReload(() => {
    proxy.reload()
    log.reloaded()
  })
  proxy.onQuit(() => signals.stop())
  log.started(proxy)
  await signals.stopped
  memoryOfStart.cancel()
  const times = proxy.shutdownTimes
  log.stopping(times)
  await proxy.close(times)
  log.stopped()
  return EXIT.ok
}

/** The plan is kept only sealed, with a key that outlives the process. */
function keptPlan(environment: Environment): Pick<ProxyInstanceOptions, 'keepsPlanOf' | 'keptPlanMaxAgeMs'> {
  const maxAge = readVariable(environment, 'GATEWRIGHT_KEPT_PLAN_MAX_AGE')
  const keptPlanMaxAgeMs = maxAge === undefined ? undefined : parseDuration(maxAge)
  const isKept = readVariable(environment, 'SESSION_KEY') !== undefined && keptPlanMaxAgeMs !== 0
  return { keepsPlanOf: isKept ? readVariable(environment, 'GATEWRIGHT_GATEWAY_UID') : undefined, keptPlanMaxAgeMs }
}

/**
 * Reads a file in the form of `rawConfig` of ProxyParameters.
 * @throws UsageError
 */
function readConfig(file: string): ReturnType<typeof settingsOf> {
  let rawConfig: unknown
  try {
    rawConfig = parse(readFileSync(file, 'utf8')) ?? {}
  } catch (error) {
    throw new UsageError(`--config ${file} cannot be read: ${(error as Error).message}`)
  }
  const spec = { rawConfig: rawConfig as Record<string, unknown> }
  const [fault] = settingsProblems(spec)
  if (fault !== undefined) {
    const path = fault.path.replace(/^spec\.rawConfig\.?/, '')
    throw new UsageError(`--config ${file}: ${path === '' ? '' : `${path}: `}${fault.message}`)
  }
  return settingsOf([spec])
}
