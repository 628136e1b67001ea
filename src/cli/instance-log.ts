import inspector from 'node:inspector'
import type { LogLevelSetting } from '#admin/admin-server.ts'
import type { Finding } from '#base/finding.ts'
import type { SecretHider } from '#base/known-secrets.ts'
import { type Level, type LogLevels, type Module, writeLogFilter } from '#base/log-levels.ts'
import type { SharedSettings } from '#control/gateways/read-process-settings.ts'
import type { InstanceEvents, ListenerState } from '#instance/events.ts'
import type { Instance } from '#instance/instance.ts'
import type { ShutdownTimes } from '#instance/shutdown-times.ts'
import type { ApplicationLog, LogFields } from '#observe/log/application-log.ts'
import { type FileProblem, placeOf } from '#store/file-problem.ts'
import type { RemovedObject, StaleFile } from '#store/loaded-file.ts'
import { placeFindings } from '#store/place-findings.ts'
import type { ObjectStore } from '#store/store.ts'
import type { LogState } from '#workers/messages.ts'
import type { ReplacedFor } from '#workers/worker-pool.ts'
import { problemLines } from './finding-lines.ts'

/** A gateway or a proxy that runs. */
type StartedInstance = Pick<Instance, 'ports' | 'adminUrl' | 'whyNotReady'> & Partial<Pick<Instance, 'apiUrl'>>

/** Logs the events of an instance. Events that several workers report, and unchanged states, are logged once. */
export class InstanceLog implements InstanceEvents {
  readonly #log: ApplicationLog
  /** The last logged problems of files, of what a cluster has, and of the objects. */
  readonly #known: Record<keyof typeof RESOLVED, ReadonlyMap<string, FileProblem>> = {
    files: new Map(),
    cluster: new Map(),
    objects: new Map(),
  }
  /** Objects kept from a previous version, by file; empty: none any more, but the file still has errors. */
  #kept = new Map<string, string>()
  /** The objects that files with problems no longer contain. */
  #removed = new Set<string>()
  /** The problem of each listener, by name and URL. */
  #bound = new Map<string, string | undefined>()
  #running = false
  /** Of the last plan in force that was told: workers tell of it again when a socket has changed, or one of them is replaced. */
  #planVersion = 0
  /** Why the gateway was not ready when this was logged last; empty: it was. */
  #notReady = ''
  /** Workers that cannot write the access log. */
  readonly #logFailing = new Set<string>()
  #lostLines = 0

  constructor(log: ApplicationLog) {
    this.#log = log
  }

  get logLevels(): LogLevelSetting {
    return { levels: this.#log.levels, changeLevels: (levels) => this.#changeLevels(levels) }
  }

  /** Whatever the levels are, the change itself is logged. */
  #changeLevels(levels: LogLevels): void {
    const [before, now] = [writeLogFilter(this.#log.levels), writeLogFilter(levels)]
    if (now === before) return
    this.#log.levels = { others: 'info' }
    this.#log.log('observe', 'info', 'the levels of the log have changed', { levels: now, before })
    this.#log.levels = levels
  }

  secrets(secrets: SecretHider): void {
    this.#log.hide(secrets)
  }

  message(module: Module, level: Level, message: string, fields: LogFields): void {
    this.#log.log(module, level, message, fields)
  }

  objectsChanged(
    problems: readonly FileProblem[],
    stale: readonly StaleFile[],
    removed: readonly RemovedObject[],
  ): void {
    const hasErrors = problems.some(({ severity }) => severity === 'error')
    this.#problems('files', problems, hasErrors ? (stale.length > 0 ? KEPT : NONE_KEPT) : WARNED)
    this.#logKept(problems, stale)
    this.#logRemoved(removed)
  }

  clusterChanged(problems: readonly FileProblem[]): void {
    this.#problems('cluster', problems, 'the objects of the cluster are not complete, or some have errors')
  }

  #logKept(problems: readonly FileProblem[], stale: readonly StaleFile[]): void {
    const broken = new Set(problems.filter(({ severity }) => severity === 'error').map(({ file }) => file))
    const before = this.#kept
    this.#kept = new Map(stale.map(({ file, objects }) => [file, nameSome(objects)]))
    for (const [file, objects] of this.#kept) {
      if (before.get(file) === objects) continue
      this.#log.log('store', 'warn', 'a file has errors; its last good objects stay in force', { file, objects })
    }
    for (const file of before.keys()) {
      if (this.#kept.has(file)) continue
      if (broken.has(file)) this.#kept.set(file, '')
      else this.#log.log('store', 'info', 'a file is in use again', { file })
    }
  }

  #logRemoved(removed: readonly RemovedObject[]): void {
    const before = this.#removed
    this.#removed = new Set(removed.map(({ object }) => object))
    for (const { file, object } of removed) {
      if (!before.has(object)) this.#log.log('store', 'warn', 'an object was removed', { object, file })
    }
  }

  translated(findings: readonly Finding[], store: Pick<ObjectStore, 'locate'>): void {
    this.#problems('objects', placeFindings(store, findings), 'the objects have problems; everything else is in force')
  }

  /**
   * Logs the problems that are new and those that are resolved. A field that only moved in its file has the same problem.
   * @param wrong the message if there are problems
   */
  #problems(where: keyof typeof RESOLVED, found: readonly FileProblem[], wrong: string): void {
    const { problems, errors, warnings } = problemLines(found)
    const before = this.#known[where]
    const now = new Map(problems.map((problem) => [identify(problem), problem]))
    this.#known[where] = now
    const isNew = [...now].filter(([id]) => !before.has(id))
    const resolved = [...before].filter(([id]) => !now.has(id))
    if (isNew.length === 0 && resolved.length === 0) return
    if (problems.length === 0) return this.#log.log(MODULE_OF[where], 'info', RESOLVED[where])
    this.#log.log(MODULE_OF[where], errors > 0 ? 'error' : 'warn', wrong, { errors, warnings })
    for (const [, problem] of isNew) {
      this.#log.log(MODULE_OF[where], problem.severity === 'error' ? 'error' : 'warn', 'problem', fieldsOf(problem))
    }
    for (const [, problem] of resolved) this.#log.log(MODULE_OF[where], 'info', 'problem resolved', fieldsOf(problem))
  }

  applied(version: number, listeners: readonly ListenerState[]): void {
    const before = this.#bound
    this.#bound = new Map(listeners.map(({ name, url, problem }) => [`${name} ${url}`, problem]))
    for (const { name, url, problem } of listeners) {
      const listener = `${name} ${url}`
      if (before.has(listener) && before.get(listener) === problem) continue
      if (problem === undefined) this.#log.log('instance', 'info', 'listening', { url, listener: name })
      else
        this.#log.log('instance', 'error', 'a listener cannot accept connections', {
          url,
          listener: name,
          cause: problem,
        })
    }
    if (version === this.#planVersion) return
    this.#planVersion = version
    this.#log.log('instance', this.#running ? 'info' : 'debug', 'plan in force', { version })
  }

  started(instance: StartedInstance): void {
    this.#running = true
    const debuggerUrl = inspector.url()
    if (debuggerUrl !== undefined) {
      const { host } = new URL(debuggerUrl)
      this.#log.log(
        'instance',
        'warn',
        'the debugger of the runtime is open; anyone who can connect to it can read every secret',
        {
          host,
        },
      )
    }
    const { metrics, readiness } = instance.ports
    const servers = {
      admin: instance.adminUrl,
      'metrics.port': metrics,
      'readiness.port': readiness,
      api: instance.apiUrl,
    }
    this.#notReady = instance.whyNotReady.join('; ')
    if (this.#notReady === '') this.#log.log('instance', 'info', 'ready', servers)
    else this.#log.log('instance', 'warn', 'running, but not ready', { ...servers, cause: this.#notReady })
  }

  /** @param fields its API and its ports */
  controllerStarted(fields: LogFields, whyNotReady: readonly string[]): void {
    this.#running = true
    this.#notReady = whyNotReady.join('; ')
    if (this.#notReady === '') this.#log.log('instance', 'info', 'ready', fields)
    else this.#log.log('instance', 'warn', 'running, but not ready', { ...fields, cause: this.#notReady })
  }

  readiness(whyNotReady: readonly string[]): void {
    const before = this.#notReady
    this.#notReady = whyNotReady.join('; ')
    if (!this.#running || this.#notReady === before) return
    if (this.#notReady === '') this.#log.log('instance', 'info', 'ready')
    else this.#log.log('instance', 'warn', 'not ready', { cause: this.#notReady })
  }

  /** @param cause why the gateway cannot start */
  failed(cause: string): void {
    this.#log.log('instance', 'error', 'the gateway cannot start', { cause })
  }

  reloaded(): void {
    this.#log.log('instance', 'info', 'reloading the files and reopening the access log')
  }

  /** A Gateway has another value for a setting of the process than an earlier one. */
  settingOfOther({ gateway, setting }: SharedSettings['differing'][number]): void {
    this.#log.log('control', 'warn', 'one process serves all Gateways; a setting of this one is not in force', {
      gateway,
      setting,
    })
  }

  /** The settings of the process in ProxyParameters are not those with which it started. */
  settingsChanged(): void {
    this.#log.log(
      'control',
      'warn',
      'logging.format, rawConfig or env of ProxyParameters changed; restart the gateway to apply it',
    )
  }

  stopping({ minMs, maxMs }: ShutdownTimes): void {
    this.#log.log('instance', 'info', STOPPING, { 'accept.seconds': minMs / 1000, 'finish.seconds': maxMs / 1000 })
  }

  /** Everything has ended, within its time or not. */
  stopped(): void {
    this.#log.log('instance', 'info', 'stopped')
  }

  workerReplaced(worker: string, why: ReplacedFor, cause: string): void {
    const message = why === 'died' ? 'a worker died and is replaced' : 'a worker is stuck and is replaced'
    this.#log.log('workers', 'error', message, { worker, cause })
    this.#logFine(worker)
  }

  /** All workers write to one file. */
  accessLog(worker: string, state: LogState): void {
    if (state.kind === 'failing') {
      const { cause } = state
      const message = cause === READER_GONE ? UNREAD : UNWRITTEN
      if (this.#logFailing.size === 0) this.#log.log('observe', 'error', message, { cause })
      this.#logFailing.add(worker)
      return
    }
    this.#lostLines += state.lines
    if (state.kind === 'resumed') return this.#logFine(worker)
    if (!this.#logFailing.delete(worker) || this.#logFailing.size > 0) return
    this.#log.log('observe', 'error', 'the access log is incomplete', { lost: this.#lostLines })
  }

  #logFine(worker: string): void {
    if (!this.#logFailing.delete(worker) || this.#logFailing.size > 0) return
    this.#log.log('observe', 'info', 'the access log can be written again', { lost: this.#lostLines })
    this.#lostLines = 0
  }

  labelFolded(label: string, [gateway, listener, route, rule]: readonly string[]): void {
    const place = { gateway, listener, route, route_rule: rule }
    this.#log.log('observe', 'warn', 'a metric label has 200 values; further ones are counted as other', {
      label,
      ...place,
    })
  }

  bug(decision: string, stack: string): void {
    this.#log.log('proxy', 'error', 'a bug in the gateway', { decision, stack })
  }
}

/** A problem without a path has no identity besides its position. */
function identify({ severity, file, line, column, path, code, message }: FileProblem): string {
  return JSON.stringify([severity, file, path || [line, column], code, message])
}

function fieldsOf(problem: FileProblem): LogFields {
  const { path, code, message } = problem
  return { at: placeOf(problem), path, code, problem: message }
}

const STOPPING = 'shutting down; requests in flight may finish'

const KEPT = 'the configuration has errors; objects with errors keep their last valid version, if they have one'
const NONE_KEPT = 'the configuration has errors, and there is no earlier version to fall back on'
const WARNED = 'the configuration has warnings'

const RESOLVED = {
  files: 'all problems of the files are resolved',
  cluster: 'the objects of the cluster are complete, and none has errors',
  objects: 'all problems of the objects are resolved',
} as const

const MODULE_OF = { files: 'store', cluster: 'store', objects: 'control' } as const

const UNWRITTEN = 'the access log cannot be written; lines are queued in memory, and dropped when the queue is full'

/** Only standard output: a named pipe is also open for reading. */
const READER_GONE = 'EPIPE'
const UNREAD = 'the access log has no reader any more; its lines are dropped'

const MOST_NAMES = 5

/** Names of objects, limited to a readable number. */
function nameSome(objects: readonly string[]): string {
  const more = objects.length - MOST_NAMES
  return `${objects.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
