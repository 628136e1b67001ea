import { readFileSync, statSync } from 'node:fs'
import type { ApiObject } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import type { Origin } from '#base/origin.ts'
import { FileObjects } from './file-objects.ts'
import type { FilePosition, FileProblem } from './file-problem.ts'
import { fileProblem, findFiles } from './find-files.ts'
import { type LoadedFile, reloadFile, unreadableFile } from './loaded-file.ts'
import { FieldLocator } from './locate-field.ts'
import { duplicateOf } from './parse-yaml.ts'
import type { ObjectStore } from './store.ts'
import { Subscribers } from './subscribers.ts'
import { type Touched, type Watch, watchPaths } from './watch-paths.ts'

/** A file of which something older than its present content is in use. */
export interface StaleFile {
  readonly file: string
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Keys of the objects kept from before. */
  readonly objects: readonly string[]
  /** Why. */
  readonly problems: readonly FileProblem[]
}

export interface FileStoreOptions {
  /** Follow changes of the files. */
  readonly watch?: boolean
  /** How long the files must be quiet before they are read again. */
  readonly quietMs?: number
  /** How often to look where the platform cannot watch. */
  readonly pollMs?: number
}

/** Objects from files and directories. They are written by their author, so the store only adds statuses, in memory. */
export class FileStore implements ObjectStore {
  readonly #paths: readonly string[]
  readonly #subscribers = new Subscribers()
  readonly #statuses = new Map<string, unknown>()
  readonly #locator = new FieldLocator((file) => this.#files.get(file)?.text)
  readonly #watch: Watch | undefined
  readonly #objects = new FileObjects()
  /** In the order of their paths. */
  #files: Map<string, LoadedFile> = new Map()
  #isLinked = true
  /** Problems of the last search, as text; undefined before the first one. */
  #searched: string | undefined
  #searchProblems: readonly FileProblem[] = []
  #problems: readonly FileProblem[] = []
  #list: readonly ApiObject[] | undefined

  /** Reads the files at once; what is wrong with them is in `problems`. */
  constructor(paths: readonly string[], { watch = false, quietMs = 100, pollMs = 2000 }: FileStoreOptions = {}) {
    this.#paths = paths
    this.#watch = watch ? watchPaths(paths, (touched) => this.#look(touched), { quietMs, pollMs }) : undefined
    this.reload()
  }

  list(): readonly ApiObject[] {
    this.#list ??= Object.freeze(
      [...this.#files.values()].flatMap(({ objects }) => objects.flatMap((it) => this.#objects.at(it) ?? [])),
    )
    return this.#list
  }

  takeChange(): ObjectChange {
    return this.#objects.takeChange()
  }

  subscribe(onChange: () => void): () => void {
    return this.#subscribers.add(onChange)
  }

  statusOf(key: string): unknown {
    return this.#statuses.get(key)
  }

  writeStatus(key: string, status: unknown): void {
    if (this.#objects.has(key)) this.#statuses.set(key, status)
  }

  /** Everything wrong with the files as they are now. */
  problems(): readonly FileProblem[] {
    return this.#problems
  }

  stale(): readonly StaleFile[] {
    return [...this.#files.values()].flatMap(({ file, staleSince: since, kept: objects, problems }) =>
      since === undefined ? [] : [{ file, since, objects, problems }],
    )
  }

  /** Where a field of an object stands in its file. */
  locate(origin: Origin, fieldPath: string): FilePosition | undefined {
    return this.#locator.locate(origin, fieldPath)
  }

  /** Looks at the files again; reads those that changed. Subscribers hear of it when anything is different. */
  reload(): void {
    const found = findFiles(this.#paths)
    this.#isLinked = found.isLinked
    const before = this.#files
    const files = new Map<string, LoadedFile>()
    const changed: Change[] = []
    for (const file of found.files) {
      const known = before.get(file)
      const loaded = load(file, known)
      if (loaded !== undefined) files.set(file, loaded)
      if (loaded !== known) changed.push([known, loaded])
    }
    for (const [file, known] of before) if (!files.has(file)) changed.push([known, undefined])
    this.#files = files
    const searched = JSON.stringify(found.problems)
    if (changed.length === 0 && searched === this.#searched) return
    this.#searched = searched
    this.#searchProblems = found.problems
    this.#take(changed)
  }

  /** The same when it is known what may have changed: the work depends on that, not on how many files there are. */
  #look(touched: Touched): void {
    if (touched === undefined || this.#isLinked) return this.reload()
    const changed: Change[] = []
    for (const file of touched) {
      const known = this.#files.get(file)
      const loaded = known === undefined ? undefined : load(file, known)
      // A file or folder that was created or removed.
      if (loaded === undefined) return this.reload()
      if (loaded !== known) changed.push([known, loaded])
    }
    if (changed.length === 0) return
    for (const [, loaded] of changed) this.#files.set(loaded!.file, loaded!)
    this.#take(changed)
  }

  #take(changed: readonly Change[]): void {
    this.#list = undefined
    for (const key of this.#objects.replace(changed)) this.#statuses.delete(key)
    this.#problems = [...this.#searchProblems, ...this.#problemsInFiles()]
    this.#subscribers.notify()
  }

  *#problemsInFiles(): Generator<FileProblem> {
    for (const { problems } of this.#files.values()) yield* problems
    for (const { object, first } of this.#objects.duplicates) yield this.#duplicate(object, first)
  }

  #duplicate({ origin }: ApiObject, first: ApiObject): FileProblem {
    const { file = '', line = 1 } = origin
    return duplicateOf(first, origin, this.locate(origin, 'metadata.name') ?? { file, line, column: 1 })
  }

  close(): void {
    this.#watch?.close()
    this.#subscribers.clear()
  }
}

/** A file that is the same is the very same object. */
type Change = readonly [before: LoadedFile | undefined, after: LoadedFile | undefined]

/** @returns the file as it was before when it is the same, undefined when it is gone */
function load(file: string, before: LoadedFile | undefined): LoadedFile | undefined {
  let signature = ''
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true })
    signature = [ino, size, mtimeNs, ctimeNs].join(' ')
    if (before?.signature === signature) return before
    return reloadFile(file, signature, readFileSync(file, 'utf8'), before)
  } catch (error) {
    const found = fileProblem(file, error)
    return found.code === 'file-missing' ? undefined : unreadableFile(found, signature, before)
  }
}
