import { type ApiObject, keyOf } from '#api/object.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { RefusedRoute } from '#api/refused-route.ts'
import { clock } from '#base/clock.ts'
import type { PartialName } from './admit.ts'
import { fillFromOutside, type Sources } from './entries-from-outside.ts'
import type { FileProblem } from './file-problem.ts'
import { type ParsedFile, parseObjects } from './parse-yaml.ts'

/** The effective content of a file: its valid objects, and previous versions of objects that are now invalid. */
export interface LoadedFile {
  readonly file: string
  /** Changes when the file on disk changes. */
  readonly signature: string
  /** Undefined: the file could not be read. */
  readonly text: string | undefined
  readonly parsed: ParsedFile | undefined
  /** Other files that its objects take values from, each with its signature; undefined: it did not exist. */
  readonly sources: ReadonlyMap<string, string | undefined>
  readonly objects: readonly ApiObject[]
  readonly problems: readonly FileProblem[]
  /** Keys of the objects that the text contains and that are invalid. */
  readonly refused: readonly string[]
  /** The policies that the text contains and that are invalid. */
  readonly refusedPolicies: readonly RefusedPolicy[]
  /** The routes for requests that the text contains and that are invalid. */
  readonly refusedRoutes: readonly RefusedRoute[]
  /** False: no version of the file was readable, so nothing is known of its objects. */
  readonly isKnown: boolean
  /** Keys of the objects that are kept from an earlier version. */
  readonly kept: readonly string[]
  /** Keys of the objects that were removed while the file has had problems: by intent, or by a mistake in their identity. */
  readonly removed: readonly string[]
  /** Since when (ms since the epoch) objects are kept from an earlier version; undefined if none are. */
  readonly staleSince: number | undefined
}

/** A file whose previous objects are in use because its current content is invalid. */
export interface StaleFile {
  readonly file: string
  /** Milliseconds since the epoch. */
  readonly since: number
  /** Keys of the objects kept from an earlier version. */
  readonly objects: readonly string[]
  /** The problems of the current content. */
  readonly problems: readonly FileProblem[]
}

/** An object that a file with problems no longer contains, and that was in force. */
export interface RemovedObject {
  readonly file: string
  /** Its key. */
  readonly object: string
}

/** The content of a file, before it is parsed. */
interface ReadFile {
  readonly file: string
  readonly signature: string
  readonly text: string
  readonly from: Sources
}

/** State of a file after it was read again. Objects that were valid and are now invalid keep their last valid version (decision A-09). */
export function reloadFile({ from, ...read }: ReadFile, before: LoadedFile | undefined): LoadedFile {
  const { file, text } = read
  const parsed = parseObjects(text, file, before?.parsed)
  const { objects, problems, refused, sources } = fillFromOutside(parsed.objects, text, from)
  const known = versionsIn(before)
  const invalid = [...parsed.refused, ...refused]
  const present = new Set(objects.map(keyOf))
  const isInvalid = (object: ApiObject): boolean =>
    parsed.refused.includes(keyOf(object)) ||
    (refused.includes(keyOf(object)) && !present.has(keyOf(object))) ||
    (!present.has(keyOf(object)) && parsed.unidentified.some((partial) => canBe(partial, object)))
  const kept = parsed.parses ? known.filter(isInvalid) : known
  const { refusedPolicies, refusedRoutes } = parsed.parses ? parsed : (before ?? parsed)
  const keptKeys = new Set(kept.map(keyOf))
  const standIns = refusedRoutes.flatMap(({ standIn }) => standIn ?? []).filter((it) => !keptKeys.has(keyOf(it)))
  const isKnown = parsed.parses || before?.isKnown === true
  const content = { refused: invalid, refusedPolicies, refusedRoutes, isKnown }
  const all = { ...content, objects: [...objects, ...kept, ...standIns], problems: [...parsed.problems, ...problems] }
  return build({ ...read, parsed, sources, ...all }, kept, before)
}

/** Earlier versions that can stay in force: no stand-ins, and no objects with a name that was already in use. */
function versionsIn(before: LoadedFile | undefined): readonly ApiObject[] {
  const versions = new Map<string, ApiObject>()
  for (const object of before?.objects ?? []) {
    const key = keyOf(object)
    if (object.refusal === undefined && !versions.has(key)) versions.set(key, object)
  }
  return [...versions.values()]
}

/** Whether a document whose kind or name is wrong or missing can be the next version of an object: the kind or the name is the same. */
function canBe({ kind, namespace = 'default', name }: PartialName, { origin }: ApiObject): boolean {
  if (origin.namespace !== '' && origin.namespace !== namespace) return false
  return kind === undefined ? name === origin.name : kind === origin.kind
}

/** A file that exists but cannot be read keeps all its objects. */
export function unreadableFile(found: FileProblem, signature: string, before: LoadedFile | undefined): LoadedFile {
  const { objects = [], refused = [], refusedPolicies = [], refusedRoutes = [], isKnown = false } = before ?? {}
  const { text, parsed, sources } = before ?? { text: undefined, parsed: undefined, sources: new Map() }
  return build(
    {
      file: found.file,
      signature,
      text,
      parsed,
      sources,
      objects,
      refused,
      refusedPolicies,
      refusedRoutes,
      isKnown,
      problems: [found],
    },
    objects,
    before,
  )
}

function build(
  loaded: Omit<LoadedFile, 'kept' | 'removed' | 'staleSince'>,
  kept: readonly ApiObject[],
  before: LoadedFile | undefined,
): LoadedFile {
  const staleSince = kept.length === 0 ? undefined : (before?.staleSince ?? clock.now())
  return { ...loaded, kept: kept.map(keyOf), removed: removedSince(before, loaded), staleSince }
}

function removedSince(
  before: LoadedFile | undefined,
  { problems, objects }: Pick<LoadedFile, 'problems' | 'objects'>,
): readonly string[] {
  if (before === undefined || problems.length === 0) return []
  const present = new Set(objects.map(keyOf))
  return [...new Set([...before.removed, ...before.objects.map(keyOf)])].filter((key) => !present.has(key))
}
