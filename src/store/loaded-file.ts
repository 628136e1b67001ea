import { type ApiObject, keyOf } from '#api/object.ts'
import { clock } from '#base/clock.ts'
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
  readonly objects: readonly ApiObject[]
  readonly problems: readonly FileProblem[]
  /** Keys of the objects that are kept from an earlier version. */
  readonly kept: readonly string[]
  /** Since when (ms since the epoch) objects are kept from an earlier version; undefined if none are. */
  readonly staleSince: number | undefined
}

/** State of a file after it was read again. Objects that were valid and are now invalid keep their last valid version (decision A-09). */
export function reloadFile(file: string, signature: string, text: string, before: LoadedFile | undefined): LoadedFile {
  const parsed = parseObjects(text, file, before?.parsed)
  const { objects, problems, refused, parses } = parsed
  const known = before?.objects ?? []
  const kept = parses ? known.filter((object) => refused.includes(keyOf(object))) : known
  return build({ file, signature, text, parsed, objects: [...objects, ...kept], problems }, kept, before)
}

/** A file that exists but cannot be read keeps all its objects. */
export function unreadableFile(found: FileProblem, signature: string, before: LoadedFile | undefined): LoadedFile {
  const objects = before?.objects ?? []
  const { text, parsed } = before ?? { text: undefined, parsed: undefined }
  return build({ file: found.file, signature, text, parsed, objects, problems: [found] }, objects, before)
}

function build(
  loaded: Omit<LoadedFile, 'kept' | 'staleSince'>,
  kept: readonly ApiObject[],
  before: LoadedFile | undefined,
): LoadedFile {
  const staleSince = kept.length === 0 ? undefined : (before?.staleSince ?? clock.now())
  return { ...loaded, kept: kept.map(keyOf), staleSince }
}
