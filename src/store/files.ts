import { readFileSync, statSync } from 'node:fs'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { Origin } from '#base/origin.ts'
import type { FilePosition, FileProblem } from './file-problem.ts'
import { fileProblem, findFiles } from './find-files.ts'
import { Generations } from './generations.ts'
import { type LoadedFile, reloadFile, unreadableFile } from './loaded-file.ts'
import { FieldLocator } from './locate-field.ts'
import { duplicateOf } from './parse-yaml.ts'
import type { ObjectStore } from './store.ts'
import { Subscribers } from './subscribers.ts'
import { type Watch, watchPaths } from './watch-paths.ts'

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
  readonly #generations = new Generations()
  #files: ReadonlyMap<string, LoadedFile> = new Map()
  /** Problems of the last search, as text; undefined before the first one. */
  #searched: string | undefined
  #objects: readonly ApiObject[] = []
  #keys: ReadonlySet<string> = new Set()
  #problems: readonly FileProblem[] = []

  /** Reads the files at once; what is wrong with them is in `problems`. */
  constructor(paths: readonly string[], { watch = false, quietMs = 100, pollMs = 2000 }: FileStoreOptions = {}) {
    this.#paths = paths
    this.#watch = watch ? watchPaths(paths, () => this.reload(), { quietMs, pollMs }) : undefined
    this.reload()
  }

  list(): readonly ApiObject[] {
    return this.#objects
  }

  subscribe(onChange: () => void): () => void {
    return this.#subscribers.add(onChange)
  }

  statusOf(key: string): unknown {
    return this.#statuses.get(key)
  }

  writeStatus(key: string, status: unknown): void {
    if (this.#keys.has(key)) this.#statuses.set(key, status)
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
    const files = new Map<string, LoadedFile>()
    for (const file of found.files) {
      const loaded = load(file, this.#files.get(file))
      if (loaded !== undefined) files.set(file, loaded)
    }
    const searched = JSON.stringify(found.problems)
    const isSame = [...files].every(([file, loaded]) => this.#files.get(file) === loaded)
    if (isSame && files.size === this.#files.size && searched === this.#searched) return
    this.#files = files
    this.#searched = searched
    this.#publish(found.problems)
  }

  #publish(missing: readonly FileProblem[]): void {
    const objects = new Map<string, ApiObject>()
    const problems = [...missing]
    for (const { objects: ofFile, problems: inFile } of this.#files.values()) {
      problems.push(...inFile)
      for (const object of ofFile) {
        const first = objects.get(keyOf(object))
        if (first === undefined) objects.set(keyOf(object), object)
        else problems.push(this.#duplicate(object, first))
      }
    }
    this.#objects = Object.freeze([...objects].map(([key, object]) => this.#generations.number(key, object)))
    this.#keys = new Set(objects.keys())
    this.#problems = problems
    for (const key of this.#statuses.keys()) if (!this.#keys.has(key)) this.#statuses.delete(key)
    this.#subscribers.notify()
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
