import { apiVersionOf, findKind, KINDS, type KindInfo } from '#api/kinds.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { suggest } from '#base/suggest.ts'
import { problem, validate } from '#schema/index.ts'
import type { FileProblem } from './file-problem.ts'
import { type Piece, placeOf, readPieces, type YamlPieces } from './yaml-pieces.ts'

export interface ParsedFile {
  /** The valid objects, with their origin. */
  readonly objects: readonly ApiObject[]
  readonly problems: readonly FileProblem[]
  /** Keys (`objectKey`) of objects that are there but invalid. */
  readonly refused: readonly string[]
  /** False: the text is not YAML, so nothing is known about its objects. */
  readonly parses: boolean
}

/** Objects that were created by a server carry these; in a file they mean nothing. */
const SERVER_FIELDS = [
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'managedFields',
  'resourceVersion',
  'selfLink',
  'uid',
]

/** What one piece of a file came to. */
interface Verdict {
  readonly object?: ApiObject
  /** Identity, as far as it is known. */
  readonly name?: ObjectName
  readonly problems: readonly ConfigProblem[]
}

interface ObjectName {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/**
 * Reads multi-document YAML or JSON text. One invalid object does not affect the others (decision A-09).
 * @param file the name that problems and origins carry
 */
export function parseObjects(text: string, file: string): ParsedFile {
  const source = readPieces(text)
  if (source.faults.length > 0) {
    const problems = source.faults.map(({ message, line, column }) => {
      return { ...problem('', 'invalid-yaml', message), file, line, column }
    })
    return { objects: [], problems, refused: [], parses: false }
  }
  return gather(source, file)
}

function gather(source: YamlPieces, file: string): ParsedFile {
  const objects = new Map<string, ApiObject>()
  const refused: string[] = []
  const problems: FileProblem[] = []
  for (const piece of source.pieces) {
    const verdict = judge(piece, file)
    const { name } = verdict
    const key = name === undefined ? undefined : objectKey(name.kind, name.namespace, name.name)
    const first = key === undefined ? undefined : objects.get(key)
    const found = first === undefined ? verdict.problems : [...verdict.problems, duplicateOf(first)]
    for (const each of found) {
      const object = name === undefined ? {} : { object: `${name.kind} ${name.namespace}/${name.name}` }
      problems.push({ ...each, file, ...placeOf(source.lines, piece, each.path), ...object })
    }
    if (key === undefined || first !== undefined) continue
    if (verdict.object === undefined) refused.push(key)
    else objects.set(key, verdict.object)
  }
  return { objects: [...objects.values()], problems, refused, parses: true }
}

/** @param first the object that has the name already */
export function duplicateOf(first: ApiObject): ConfigProblem {
  const { kind, file, line } = first.origin
  const message = `there is another ${kind} of this name at ${file}:${line}; this one is ignored`
  return problem('metadata.name', 'duplicate-object', message)
}

function judge(piece: Piece, file: string): Verdict {
  const { value } = piece
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problems: [problem('', 'not-an-object', 'must be an object with apiVersion, kind and metadata')] }
  }
  const { apiVersion, kind } = value as Record<string, unknown>
  const missing = Object.entries({ apiVersion, kind }).filter(([, member]) => typeof member !== 'string')
  if (missing.length > 0) {
    return { problems: missing.map(([field]) => problem(field, 'required', `${field} is required in a file`)) }
  }
  const info = recognise(String(apiVersion), String(kind))
  if ('code' in info) return { problems: [info] }
  return admit(piece, info, file)
}

/** The kind of an object in a file, or why it is none of ours. */
function recognise(apiVersion: string, kind: string): KindInfo | ConfigProblem {
  const slash = apiVersion.lastIndexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  const version = apiVersion.slice(slash + 1)
  const info = findKind(kind)
  if (info === undefined) return unknownKind(group, kind)
  if (info.group !== group) return wrongGroup(info, apiVersion, group)
  if (info.versions.includes(version)) return info
  const served = info.versions.map((each) => apiVersionOf(info, each)).join(', ')
  return problem('apiVersion', 'unknown-version', `${kind} has no version "${version}"; it is served as ${served}`)
}

/** Kinds of other software in the same files are no mistake: they only are not ours. */
function unknownKind(group: string, kind: string): ConfigProblem {
  const names = KINDS.map((info) => info.kind)
  const nearest = suggest(kind, names)
  if (nearest !== undefined)
    return problem('kind', 'unknown-kind', `unknown kind "${kind}", did you mean "${nearest}"?`)
  const ours = KINDS.filter((info) => info.own).map((info) => info.kind)
  if (group === KINDS[0]?.group) {
    return problem('kind', 'unknown-kind', `unknown kind "${kind}"; the kinds of ${group} are ${ours.join(', ')}`)
  }
  return problem('kind', 'unknown-kind', `kind "${kind}" is not read by the gateway and has no effect`, 'warning')
}

function wrongGroup(info: KindInfo, apiVersion: string, group: string): ConfigProblem {
  const expected = apiVersionOf(info)
  const groups = KINDS.map((each) => each.group)
  const foreign = group !== '' && info.group !== '' && suggest(group, groups) === undefined
  if (foreign || (info.group === '' && suggest(group, groups) === undefined)) {
    const message = `${info.kind} of "${apiVersion}" is not read by the gateway; it reads ${info.kind} of ${expected}`
    return problem('apiVersion', 'unknown-kind', message, 'warning')
  }
  return problem(
    'apiVersion',
    'unknown-kind',
    `there is no ${info.kind} in "${apiVersion}", did you mean "${expected}"?`,
  )
}

function admit(piece: Piece, info: KindInfo, file: string): Verdict {
  const { value, problems, warnings } = validate(info.schema, piece.value)
  const found = [...problems, ...warnings, ...nameProblems(piece.value, info)]
  const name = nameOf(piece.value, info)
  if (name === undefined) return { problems: found }
  if (value === undefined || found.some(({ severity }) => severity === 'error')) return { name, problems: found }
  const { status, ...rest } = value as Record<string, unknown> & { metadata: object; status?: unknown }
  const own = Object.entries(rest.metadata).filter(([field]) => !SERVER_FIELDS.includes(field))
  const object = {
    ...rest,
    ...(info.statusIsOurs || status === undefined ? {} : { status }),
    metadata: { ...Object.fromEntries(own), name: name.name, namespace: name.namespace },
    origin: { ...name, file, line: piece.line },
  } as unknown as ApiObject
  return { object, name, problems: found }
}

function nameProblems(value: unknown, info: KindInfo): readonly ConfigProblem[] {
  const metadata = metadataOf(value)
  const found: ConfigProblem[] = []
  if (metadata !== undefined && (metadata.name ?? undefined) === undefined) {
    found.push(problem('metadata.name', 'required', 'is required in a file'))
  }
  if (!info.namespaced && typeof metadata?.namespace === 'string') {
    const message = `is not allowed on a ${info.kind}, which belongs to no namespace`
    found.push(problem('metadata.namespace', 'invalid-namespace', message))
  }
  return found
}

function nameOf(value: unknown, info: KindInfo): ObjectName | undefined {
  const { name, namespace = 'default' } = metadataOf(value) ?? {}
  if (typeof name !== 'string') return undefined
  if (!info.namespaced) return { kind: info.kind, namespace: '', name }
  return { kind: info.kind, namespace: typeof namespace === 'string' ? namespace : 'default', name }
}

function metadataOf(value: unknown): Record<string, unknown> | undefined {
  const metadata = (value as { metadata?: unknown }).metadata
  return typeof metadata === 'object' && metadata !== null ? (metadata as Record<string, unknown>) : undefined
}
