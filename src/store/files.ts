import { readFileSync } from 'node:fs'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { ObjectChange } from '#api/object-change.ts'
import { type RefusedPolicy, readDisplacedPolicy } from '#api/refused-policy.ts'
import { describeOrigin, type Origin } from '#base/origin.ts'
import { type TlsMaterialCheck, UNCHECKED_MATERIAL } from '#base/tls-material.ts'
import { type Environment, isUnchanged, type Sources } from './entries-from-outside.ts'
import { FileObjects } from './file-objects.ts'
import type { FilePosition, FileProblem } from './file-problem.ts'
import { signatureOf } from './file-signature.ts'
import { fileProblem, findFiles } from './find-files.ts'
import { type LoadedFile, type RemovedObject, reloadFile, type StaleFile, unreadableFile } from './loaded-file.ts'
import { FieldLocator } from './locate-field.ts'
import { duplicateOf } from './parse-yaml.ts'
import { refusedEdits } from './refused-edits.ts'
import { causeOf, describeRefused, UNKNOWN_PROTECTION } from './refused-policies.ts'
import { readRegular } from './regular-file.ts'
import type { ObjectStore, StatusWrites } from './store.ts'
import { Subscribers } from './subscribers.ts'
import { type Touched, type Watch, watchPaths } from './watch-paths.ts'

export interface FileStoreOptions {
  /** Reload files when they change. */
  readonly watch?: boolean
  /** How long the files must be unchanged before they are read again. */
  readonly quietMs?: number
  /** Polling interval where the platform cannot watch. */
  readonly pollMs?: number
  /** The variables that `dataFrom` of Secrets and ConfigMaps can name. */
  readonly environment?: Environment
  /** Checks pairs of certificate and key; without it, only their PEM format is checked. */
  readonly tlsMaterial?: TlsMaterialCheck
}

/** Objects from files and directories. The store never changes the files; it keeps statuses in memory. */
export class FileStore implements ObjectStore {
  readonly #paths: readonly string[]
  readonly #subscribers = new Subscribers()
  readonly #statuses = new Map<string, unknown>()
  readonly #locator = new FieldLocator((file) => this.#files.get(file)?.text)
  readonly #watch: Watch | undefined
  readonly #objects = new FileObjects()
  readonly #from: Sources
  /** By path, in order. */
  #files: Map<string, LoadedFile> = new Map()
  #isLinked = true
  /** Problems of the last search, as text; undefined before the first one. */
  #searched: string | undefined
  #searchProblems: readonly FileProblem[] = []
  #problems: readonly FileProblem[] = []
  #list: readonly ApiObject[] | undefined
  /** The objects in force, by their file. */
  #listed = new WeakMap<LoadedFile, readonly ApiObject[]>()

  /** Reads the files; `problems` returns their errors. */
  constructor(paths: readonly string[], options: FileStoreOptions = {}) {
    const { watch = false, quietMs = 100, pollMs = 2000 } = options
    const { environment = process.env, tlsMaterial = UNCHECKED_MATERIAL } = options
    this.#paths = paths
    this.#from = { environment, tlsMaterial }
    this.#watch = watch ? watchPaths(paths, (touched) => this.#reloadTouched(touched), { quietMs, pollMs }) : undefined
    this.reload()
  }

  list(): readonly ApiObject[] {
    this.#list ??= Object.freeze([...this.#files.values()].flatMap((file) => this.#objectsOf(file)))
    return this.#list
  }

  /** Those in force. A file that has not changed has the same ones, unless an object is in several files. */
  #objectsOf(file: LoadedFile): readonly ApiObject[] {
    const known = this.#listed.get(file)
    if (known !== undefined) return known
    const inForce = file.objects.flatMap((it) => this.#objects.at(it) ?? [])
    this.#listed.set(file, inForce)
    return inForce
  }

  takeChange(): ObjectChange {
    return { ...this.#objects.takeChange(), refused: this.refused(), refusedPolicies: this.refusedPolicies() }
  }

  /** Keys of the objects that the files contain, but that are invalid, and have no earlier valid version. */
  refused(): ReadonlySet<string> {
    const found = new Set<string>()
    for (const { refused } of this.#files.values()) {
      for (const key of refused) if (!this.#objects.hasVersion(key)) found.add(key)
    }
    return found
  }

  /**
   * The invalid policies without an earlier valid version that protect their targets, or may do so, and those that are ignored because
   * another one has their name.
   */
  refusedPolicies(): readonly RefusedPolicy[] {
    const displaced = this.#objects.duplicates.flatMap(({ object, first }) => readDisplacedPolicy(object, first) ?? [])
    return [...this.#files.values()]
      .flatMap((file) => this.#refusedIn(file).filter(({ protects }) => protects.length > 0))
      .concat(displaced)
  }

  /** Problems because of which it is unknown what has to be protected; the message of each says so. */
  unknownProtection(): readonly FileProblem[] {
    return this.#problems.filter(({ code }) => UNKNOWN_PROTECTION.has(code))
  }

  #refusedIn({ refusedPolicies }: LoadedFile): readonly RefusedPolicy[] {
    return refusedPolicies.filter(this.#isWithoutVersion)
  }

  /** No version of the object is in force; a stand-in is none. */
  readonly #isWithoutVersion = ({ origin: { kind, namespace, name } }: { readonly origin: Origin }): boolean =>
    !this.#objects.hasVersion(objectKey(kind, namespace, name))

  subscribe(onChange: () => void): () => void {
    return this.#subscribers.add(onChange)
  }

  statusOf(key: string): unknown {
    return this.#statuses.get(key)
  }

  writeStatuses({ written, withdrawn }: StatusWrites): void {
    for (const key of withdrawn) this.#statuses.delete(key)
    for (const [key, status] of written) if (this.#objects.has(key)) this.#statuses.set(key, status)
  }

  /** The object in force under a key (`objectKey`), which may be a stand-in for an invalid one. */
  find(key: string): ApiObject | undefined {
    return this.#objects.get(key)
  }

  /** All problems of the current files. */
  problems(): readonly FileProblem[] {
    return this.#problems
  }

  stale(): readonly StaleFile[] {
    return [...this.#files.values()].flatMap(({ file, staleSince: since, kept: objects, problems }) =>
      since === undefined ? [] : [{ file, since, objects, problems }],
    )
  }

  refusedEdits(): ReadonlyMap<string, string> {
    return refusedEdits(this.stale())
  }

  /** The objects that were removed from files while these have had problems, and that no other file contains. */
  removed(): readonly RemovedObject[] {
    return [...this.#files.values()].flatMap(({ file, removed }) =>
      removed.filter((key) => !this.#objects.has(key)).map((object) => ({ file, object })),
    )
  }

  /** The position of a field of an object in its file; of a refused policy, that of its errors. */
  locate(origin: Origin, fieldPath: string): FilePosition | undefined {
    return this.#locator.locate(origin, fieldPath) ?? this.#locateErrors(origin)
  }

  #locateErrors(origin: Origin): FilePosition | undefined {
    for (const loaded of this.#files.values()) {
      const policy = loaded.refusedPolicies.find((each) => describeOrigin(each.origin) === describeOrigin(origin))
      const cause = policy && causeOf(loaded, policy)
      if (cause !== undefined) return { file: cause.file, line: cause.line ?? 1, column: cause.column ?? 1 }
    }
    return undefined
  }

  /** Reads changed files again. Notifies subscribers if anything is different. */
  reload(): void {
    const found = findFiles(this.#paths)
    this.#isLinked = found.isLinked
    const before = this.#files
    const files = new Map<string, LoadedFile>()
    const changed: Change[] = []
    for (const file of found.files) {
      const known = before.get(file)
      const loaded = this.#load(file, known)
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

  /** @returns `before` if nothing changed that the objects of the file depend on, undefined if the file does not exist */
  #load(file: string, before: LoadedFile | undefined): LoadedFile | undefined {
    let signature = ''
    try {
      signature = signatureOf(file)
      if (before?.signature === signature && sourcesUnchanged(before)) return before
      // Who names a pipe wants to wait for it.
      const text = this.#paths.includes(file) ? readFileSync(file, 'utf8') : readRegular(file)
      return reloadFile({ file, signature, text, from: this.#from }, before)
    } catch (error) {
      const found = fileProblem(file, error)
      return found.code === 'file-missing' ? undefined : unreadableFile(found, signature, before)
    }
  }

  /** Like `reload`, for the paths that may have changed: the work depends on their number, not on the number of files. */
  #reloadTouched(touched: Touched): void {
    if (touched === undefined || this.#isLinked) return this.reload()
    const changed: Change[] = []
    for (const file of touched) {
      const known = this.#files.get(file)
      const loaded = known === undefined ? undefined : this.#load(file, known)
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
    this.#watch?.follow(followedFiles(this.#files.values(), this.#isLinked))
    const hadDuplicates = this.#objects.hasDuplicates
    for (const key of this.#objects.replace(changed)) this.#statuses.delete(key)
    if (hadDuplicates || this.#objects.hasDuplicates) this.#listed = new WeakMap()
    this.#problems = [...this.#searchProblems, ...this.#problemsInFiles()]
    this.#subscribers.notify()
  }

  *#problemsInFiles(): Generator<FileProblem> {
    for (const { problems } of this.#files.values()) yield* problems
    for (const file of this.#files.values()) {
      yield* describeRefused(file, this.#refusedIn(file), file.refusedRoutes.filter(this.#isWithoutVersion))
    }
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

/** An unchanged file is the same object. */
type Change = readonly [before: LoadedFile | undefined, after: LoadedFile | undefined]

function sourcesUnchanged({ sources }: LoadedFile): boolean {
  for (const [path, signature] of sources) if (!isUnchanged(path, signature)) return false
  return true
}

/** The files to report when another file changes, by path of that file: those that take values from it, or that may lead to it as links. */
function followedFiles(files: Iterable<LoadedFile>, isLinked: boolean): Map<string, string[]> {
  const users = new Map<string, string[]>()
  for (const { file, sources } of files) {
    for (const source of sources.keys()) users.set(source, [...(users.get(source) ?? []), file])
    if (isLinked) users.set(file, [...(users.get(file) ?? []), file])
  }
  return users
}
