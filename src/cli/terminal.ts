import inspector from 'node:inspector'
import type { Finding } from '#base/finding.ts'
import { KnownSecrets } from '#base/known-secrets.ts'
import type { InstanceEvents } from '#instance/events.ts'
import type { Instance } from '#instance/instance.ts'
import type { ShutdownTimes } from '#instance/shutdown-times.ts'
import type { FileProblem } from '#store/file-problem.ts'
import type { FileStore, StaleFile } from '#store/files.ts'
import type { LogState } from '#workers/messages.ts'
import type { ReplacedFor } from '#workers/worker-pool.ts'
import { count, countProblems, placeFindings, problemLines } from './finding-lines.ts'

/** Tells a person what happens; everything goes to standard error, so that standard output is the access log alone. */
export class Terminal implements InstanceEvents {
  #secrets = new KnownSecrets()
  /** What was said last of files, and of what their objects mean. */
  readonly #said = { files: '', objects: '' }
  /** Objects kept from before, by file. */
  #kept = new Map<string, string>()
  #bound = new Map<string, string | undefined>()
  #running = false
  /** Workers that cannot write the access log. */
  readonly #logFailing = new Set<string>()
  #lostLines = 0

  secrets(secrets: KnownSecrets): void {
    this.#secrets = secrets
  }

  objectsChanged(problems: readonly FileProblem[], stale: readonly StaleFile[]): void {
    this.#tell('files', problems, 'objects with errors are left out')
    const before = this.#kept
    this.#kept = new Map(stale.map(({ file, objects }) => [file, nameSome(objects)]))
    for (const [file, names] of this.#kept) {
      if (before.get(file) !== names) this.#say(`${file} has errors; its last good objects stay in force: ${names}`)
    }
    for (const file of before.keys()) if (!this.#kept.has(file)) this.#say(`${file} is in use again`)
  }

  translated(findings: readonly Finding[], store: FileStore): void {
    this.#tell('objects', placeFindings(store, findings), 'everything else is in force')
  }

  /** Everything that is wrong, whenever it has changed. */
  #tell(where: 'files' | 'objects', problems: readonly FileProblem[], rest: string): void {
    const { lines, ...counts } = problemLines(problems)
    const text = lines.join('\n')
    if (text === this.#said[where]) return
    this.#said[where] = text
    if (lines.length === 0) return this.#say(`all problems of the ${where} are resolved`)
    this.#say(`the ${where} have ${countProblems(counts)}; ${rest}:`)
    for (const line of lines) this.#say(`  ${line}`)
  }

  applied(
    version: number,
    listeners: readonly { readonly name: string; readonly url: string; readonly problem: string | undefined }[],
  ): void {
    const before = this.#bound
    this.#bound = new Map(listeners.map(({ url, problem }) => [url, problem]))
    for (const { name, url, problem } of listeners) {
      if (before.has(url) && before.get(url) === problem) continue
      this.#say(problem === undefined ? `listening on ${url} (${name})` : `listener ${name} does not serve: ${problem}`)
    }
    if (this.#running) this.#say(`plan ${version} is in force`)
  }

  started(instance: Instance): void {
    this.#running = true
    const debuggerUrl = inspector.url()
    if (debuggerUrl !== undefined) {
      this.#say(
        `warning: a debugger of the runtime listens at ${new URL(debuggerUrl).host}; whoever reaches it can read every secret`,
      )
    }
    const { admin, metrics, readiness } = instance.ports
    this.#say(`admin http://127.0.0.1:${admin}, metrics port ${metrics}, readiness port ${readiness}`)
    if (instance.listeners.length === 0) this.#say('no Gateway listens yet; the files are being watched')
  }

  reloaded(): void {
    this.#say('the files are read again, and the access log is opened anew')
  }

  stopping({ minMs, maxMs }: ShutdownTimes): void {
    const accepting =
      minMs === 0 ? 'no more connections are accepted' : `connections are accepted for ${minMs / 1000} s`
    this.#say(`stopping: ${accepting}; requests in flight have ${maxMs / 1000} s to finish`)
  }

  workerReplaced(name: string, why: ReplacedFor, cause: string): void {
    this.#say(`worker ${name} ${why === 'died' ? 'died' : 'is stuck'} and is replaced: ${cause}`)
    this.#logFine(name)
  }

  /** All workers write to one file, so they tell of it once. */
  accessLog(worker: string, state: LogState): void {
    if (state.kind === 'failing') {
      if (this.#logFailing.size === 0) {
        this.#say(
          `the access log cannot be written (${state.cause}); lines wait in memory, and are lost when there are too many`,
        )
      }
      this.#logFailing.add(worker)
      return
    }
    this.#lostLines += state.lines
    if (state.kind === 'resumed') return this.#logFine(worker)
    if (!this.#logFailing.delete(worker) || this.#logFailing.size > 0) return
    this.#say(`the access log could not be written to the end; ${count(this.#lostLines, 'line')} lost`)
  }

  #logFine(worker: string): void {
    if (!this.#logFailing.delete(worker) || this.#logFailing.size > 0) return
    this.#say(`the access log is written again; ${count(this.#lostLines, 'line')} lost`)
    this.#lostLines = 0
  }

  labelFolded(label: string, [gateway, listener, route, rule]: readonly string[]): void {
    this.#say(
      `the metric label ${label} has 200 values at gateway ${gateway}, listener ${listener}, route ${route}, rule ${rule}; further values are counted as "other"`,
    )
  }

  bug(decisionId: string, stack: string): void {
    this.#say(`a bug in the gateway met request ${decisionId}: ${stack}`)
  }

  #say(text: string): void {
    console.error(`gatewright: ${this.#secrets.hide(text)}`)
  }
}

const MOST_NAMES = 5

/** Names of objects, so many that a line holds them. */
function nameSome(objects: readonly string[]): string {
  const more = objects.length - MOST_NAMES
  return `${objects.slice(0, MOST_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
