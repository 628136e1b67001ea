import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { NotLoopback } from '#admin/admin-server.ts'
import { PortInUse } from '#base/listen.ts'
import { readLogFilter } from '#base/log-levels.ts'
import {
  mayChangeProcessSettings,
  readProcessSettings,
  type SharedSettings,
} from '#control/gateways/read-process-settings.ts'
import { BadAddressPool } from '#instance/address-pool.ts'
import { Instance, NotReady } from '#instance/instance.ts'
import type { InstanceOptions } from '#instance/options.ts'
import { StateFolderUnusable } from '#instance/state-folder.ts'
import { TLS_MATERIAL } from '#net/tls-material.ts'
import { ApplicationLog } from '#observe/log/application-log.ts'
import { DatabaseUnusable } from '#store/database/database-fault.ts'
import { FileStore } from '#store/files.ts'
import type { ObjectStore } from '#store/store.ts'
import { dataPlaneOptions } from './data-plane-options.ts'
import { EarlyLog } from './early-log.ts'
import type { Environment } from './environment.ts'
import { EXIT, type ExitCode } from './exit-code.ts'
import { type ForwardFlags, forwardNetworks } from './forward-networks.ts'
import { InstanceLog } from './instance-log.ts'
import { type ListenFlags, listenAddresses } from './listen-addresses.ts'
import { type GatewayLogSettings, type LogFlags, logSettings } from './log-settings.ts'
import { notifyService } from './notify-service.ts'
import { objectPaths, type PathFlags } from './object-paths.ts'
import { type OpenedStore, openStore } from './open-store.ts'
import { operatorAddresses } from './operator-addresses.ts'
import { complain, print } from './output.ts'
import { type RecordFlags, recordBodies, recordSettings } from './record-settings.ts'
import { askToReplace, thisProgram } from './replace/ask-to-replace.ts'
import { type JoinedPredecessor, joinPredecessor } from './replace/join-predecessor.ts'
import { REPLACE_SOCKET } from './replace/messages.ts'
import { ReplaceSocket } from './replace/replace-socket.ts'
import { writeRunningNote } from './running-note.ts'
import { checkStatePath, STATE_FOLDER } from './state-path.ts'
import { type Surroundings, WHOLE_PROCESS } from './surroundings.ts'
import { UsageError } from './usage-error.ts'

export interface RunFlags extends ForwardFlags, ListenFlags, LogFlags, PathFlags, RecordFlags {
  readonly state?: string
  readonly workers?: string | undefined
  readonly replace?: boolean
}

/** Causes that the user can remove; they are no bugs. */
const START_FAILURES = [PortInUse, BadAddressPool, NotLoopback, NotReady, StateFolderUnusable, DatabaseUnusable]

/** Runs a gateway until it is stopped. */
export async function run(
  paths: readonly string[],
  flags: RunFlags,
  around: Surroundings = WHOLE_PROCESS,
): Promise<ExitCode> {
  const files = objectPaths('run', paths, flags)
  const missing = files.find((path) => !existsSync(path))
  if (missing !== undefined) throw new UsageError(`no such file or directory: ${missing}`)
  if (flags.state !== undefined) checkStatePath(flags.state, files)
  const predecessor = await joinPredecessor(around.environment)
  if (flags.replace && predecessor === undefined) {
    const code = await replaceRunning(flags, around.environment)
    if (code !== undefined) return code
  }
  try {
    return await runGateway(files, flags, around, predecessor)
  } catch (error) {
    predecessor?.failed((error as Error).message)
    throw error
  }
}

/** @returns undefined: no gateway uses the state folder */
async function replaceRunning(
  { state = STATE_FOLDER }: RunFlags,
  environment: Environment,
): Promise<ExitCode | undefined> {
  if (process.platform === 'win32') {
    throw new UsageError(
      '--replace is not possible on Windows, where no process inherits sockets; stop the gateway and start it again',
    )
  }
  const answer = await askToReplace(join(state, REPLACE_SOCKET), thisProgram(environment))
  if (answer?.kind === 'failed') {
    complain(`the running gateway was not replaced: ${answer.cause}`)
    return EXIT.findings
  }
  if (answer === undefined) return undefined
  print(`process ${answer.now} has replaced process ${answer.before}, which ends when its connections have`)
  return EXIT.ok
}

async function runGateway(
  files: readonly string[],
  flags: RunFlags,
  around: Surroundings,
  predecessor: JoinedPredecessor | undefined,
): Promise<ExitCode> {
  const { environment } = around
  await using stops = new AsyncDisposableStack()
  const fromFiles = new FileStore(files, { watch: true, tlsMaterial: TLS_MATERIAL, environment })
  stops.defer(() => fromFiles.close())
  const logging = new EarlyLog()
  const opened = openOrFail(() => openStore(fromFiles, flags.state, logging.message))
  const store = opened instanceof Error ? fromFiles : opened.store
  stops.defer(() => store.close())
  const shared = readProcessSettings(store.list())
  // The workers get the same environment.
  const levelOfObjects = !flags.logLevel && !environment.GATEWRIGHT_LOG_LEVEL
  for (const [name, value] of Object.entries(shared.variables)) environment[name] ||= value
  const settings = logSettings(flags, environment)
  const workers = flags.workers ?? shared.workers?.toString()
  const records = recordSettings(flags, environment, files)
  const fromFlags = toOptions(store, { ...flags, workers }, settings, environment)
  const { sessionKeys } = fromFlags
  const keepsKey = predecessor !== undefined && !environment.SESSION_KEY
  const options = {
    ...fromFlags,
    // MCP clients keep the sessions that they have.
    sessionKeys: keepsKey ? { ...sessionKeys, current: predecessor.sessionKey } : sessionKeys,
    records,
    recordBodyBytes: recordBodies(flags, environment),
    predecessor: predecessor && {
      ...predecessor,
      // systemd must know the new process before the one that it knows ends.
      takeOver: async () => {
        await notifyService(`MAINPID=${process.pid}`, environment, logging.message)
        await predecessor.takeOver()
      },
    },
  }
  const log = new InstanceLog(new ApplicationLog(settings, around.openLog()))
  logging.open((...line) => log.message(...line))
  const fail = (cause: string) => {
    predecessor?.failed(cause)
    log.failed(cause)
    return EXIT.findings
  }
  if (opened instanceof Error) return fail(opened.message)
  const { state, journal } = opened
  if (flags.replace) {
    if (!state.isUsable) return fail('--replace needs a state folder that can be written')
    if (predecessor === undefined) log.message('instance', 'info', 'no gateway to replace uses the state folder', {})
  }
  for (const one of shared.differing) log.settingOfOther(one)
  const signals = around.handleSignals()
  around.catchWarnings((fields) => log.message('workers', 'warn', 'runtime warning', fields))
  let instance: Instance
  try {
    instance = await Instance.start({ ...options, state, startThread: around.startThread }, log)
  } catch (error) {
    if (!isStartFailure(error)) throw error
    return fail(error.message)
  }
  const memoryOfStart = around.releaseMemoryOfStart()
  signals.onReload(() => {
    instance.reload()
    log.reloaded()
  })
  let settingsChanged = false
  let level = shared.variables.GATEWRIGHT_LOG_LEVEL
  instance.onObjects((change) => {
    if (!mayChangeProcessSettings(change)) return
    const now = readProcessSettings(store.list())
    const changed = !isDeepStrictEqual(withoutLevel(now), withoutLevel(shared))
    if (changed && !settingsChanged) log.settingsChanged()
    settingsChanged = changed
    if (now.variables.GATEWRIGHT_LOG_LEVEL === level) return
    level = now.variables.GATEWRIGHT_LOG_LEVEL
    if (levelOfObjects) log.logLevels.changeLevels(readLogFilter(level ?? 'info').levels)
  })
  instance.onQuit(() => signals.stop())
  const note = writeRunningNote(state, instance)
  const replaced = Promise.withResolvers<'replaced'>()
  const successors =
    journal &&
    new ReplaceSocket(
      state.pathOf(REPLACE_SOCKET),
      {
        sockets: () => instance.sockets(),
        get isReady() {
          return instance.whyNotReady.length === 0
        },
        sessionKey: options.sessionKeys.current,
        lendState: () => {
          instance.lendState()
          journal.close()
        },
        takeStateBack: () => {
          journal.reopen()
          instance.takeStateBack()
        },
        handOver: () => {
          instance.handOver()
          replaced.resolve('replaced')
        },
      },
      environment,
      logging.message,
    )
  predecessor?.leave()
  log.started(instance)
  void notifyService('READY=1', environment, logging.message)
  const isReplaced = (await Promise.race([signals.stopped, replaced.promise])) === 'replaced'
  successors?.close()
  if (!isReplaced) void notifyService('STOPPING=1', environment, logging.message)
  memoryOfStart.cancel()
  const { minMs, maxMs } = instance.shutdownTimes
  const times = { minMs: isReplaced ? 0 : minMs, maxMs }
  log.stopping(times)
  await instance.close(times)
  if (!isReplaced) note.remove()
  log.stopped()
  return EXIT.ok
}

/** Settings that take effect only at the start. */
function withoutLevel({ variables, ...settings }: SharedSettings): object {
  const { GATEWRIGHT_LOG_LEVEL: _, ...others } = variables
  return { ...settings, variables: others }
}

function isStartFailure(error: unknown): error is Error {
  return START_FAILURES.some((failure) => error instanceof failure)
}

/** The cause is logged when the settings of the log are known, which depend on the objects. */
function openOrFail(open: () => OpenedStore): OpenedStore | Error {
  try {
    return open()
  } catch (error) {
    if (!isStartFailure(error)) throw error
    return error
  }
}

function toOptions(
  store: ObjectStore,
  flags: RunFlags,
  settings: GatewayLogSettings,
  environment: Environment,
): Omit<InstanceOptions, 'state'> {
  const addresses = listenAddresses(flags)
  return {
    store,
    ...dataPlaneOptions(flags.workers, settings, environment),
    ...addresses,
    ...operatorAddresses(environment, addresses.bind),
    forwardTo: forwardNetworks(flags),
    allowsExternalNames: flags.allowExternalName ?? false,
  }
}
