import { OWN_GROUP } from '#api/groups.ts'
import { apiVersionOf, findKind, KINDS, type KindInfo } from '#api/kinds.ts'
import { KIND } from '#api/meanings.ts'
import { type ApiObject, objectKey } from '#api/object.ts'
import type { RefusedPolicy } from '#api/refused-policy.ts'
import type { RefusedRoute } from '#api/refused-route.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { plainWord } from '#base/products.ts'
import { isOneEditAway, suggest } from '#base/suggest.ts'
import { looksLikePrices, readPriceFile } from '#models/price-file.ts'
import { problem } from '#schema/index.ts'
import {
  admit,
  type CheckResult,
  identityOf,
  nameOf,
  type ObjectName,
  type PartialName,
  refusedPolicyOf,
  refusedRouteOf,
} from './admit.ts'
import type { FilePosition, FileProblem } from './file-problem.ts'
import { mayHavePlaceholders, placeholderProblems } from './placeholders.ts'
import { readPlainYaml } from './plain-yaml.ts'
import { positionOf, readPieces, type Section, splitDocuments } from './yaml-pieces.ts'

export interface ParsedFile {
  /** The valid objects, with their origin; several may have one name. */
  readonly objects: readonly ApiObject[]
  readonly problems: readonly FileProblem[]
  /** Keys (`objectKey`) of invalid objects. */
  readonly refused: readonly string[]
  /** What is known of the invalid objects that have no key, because their kind or name is wrong or missing. */
  readonly unidentified: readonly PartialName[]
  /** What is known of the invalid policies, identified or not. */
  readonly refusedPolicies: readonly RefusedPolicy[]
  /** What is known of the invalid routes for requests. */
  readonly refusedRoutes: readonly RefusedRoute[]
  /** False: the text is not valid YAML, so its objects are unknown. */
  readonly parses: boolean
  /** Results of the sections by their text; the next parse reuses unchanged ones. */
  readonly sections: ReadonlyMap<string, ReadSection>
}

interface ReadSection {
  readonly line: number
  readonly verdicts: readonly Verdict[]
  /** Not empty: the section is not valid YAML. */
  readonly faults: readonly FileProblem[]
}

/** The result of one section of a file. */
interface Verdict {
  readonly object?: ApiObject
  /** Identity of an invalid object, if known. */
  readonly name?: ObjectName
  /** Of an invalid object without `name`: what is known of its identity. */
  readonly partial?: PartialName
  /** Of an invalid policy. */
  readonly policy?: RefusedPolicy
  /** Of an invalid route for requests. */
  readonly route?: RefusedRoute
  readonly problems: readonly FileProblem[]
}

const NONE: readonly never[] = Object.freeze([])
const NOTHING = {
  objects: NONE,
  refused: NONE,
  unidentified: NONE,
  refusedPolicies: NONE,
  refusedRoutes: NONE,
}

/**
 * Reads multi-document YAML or JSON text. One invalid object does not affect the others (decision A-09).
 * @param file the name that problems and origins carry
 * @param before the result for an earlier text of the file: objects with unchanged text and position keep their identity
 */
export function parseObjects(text: string, file: string, before?: ParsedFile): ParsedFile {
  const sections = new Map<string, ReadSection>()
  const shared = new Map<string, string>()
  const read = splitDocuments(text).map((section) => {
    const known = before?.sections.get(section.text)
    const result = known === undefined ? readSection(section, file, shared) : moveTo(section.line, known)
    sections.set(section.text, result)
    return { text: section.text, ...result }
  })
  const faults = read.flatMap((section) => section.faults)
  if (faults.length > 0) return { ...NOTHING, problems: faults, parses: false, sections }
  return { ...gather(read, file), parses: true, sections }
}

function readSection(section: Section, file: string, shared: Map<string, string>): ReadSection {
  return readPlain(section, file, shared) ?? readWithPositions(section, file)
}

/** Most sections are plain and contain a valid object, whose field positions are not needed. */
function readPlain({ text, line }: Section, file: string, shared: Map<string, string>): ReadSection | undefined {
  const plain = readPlainYaml(text, shared)
  if (plain === undefined || isList(plain.value) || mayHavePlaceholders(text)) return undefined
  const verdict = checkObject(plain.value, plain.line + line - 1, file)
  return verdict.problems.length > 0 ? undefined : { line, verdicts: [{ ...verdict, problems: NONE }], faults: NONE }
}

function readWithPositions({ text, line }: Section, file: string): ReadSection {
  const { pieces, faults, lines } = readPieces(text)
  const verdicts = pieces.map((piece): Verdict => {
    const { problems: found, ...result } = checkObject(piece.value, piece.line, file)
    const problems = mayHavePlaceholders(text) ? [...found, ...placeholderProblems(piece.value)] : found
    const name = result.object?.origin ?? result.name
    const object = name === undefined ? {} : { object: `${name.kind} ${name.namespace}/${name.name}` }
    const placed = problems.map((each) => ({ ...each, file, ...positionOf(lines, piece, each.path), ...object }))
    return { ...result, problems: placed }
  })
  const unreadable = faults.map(({ message, ...at }) => ({ ...problem('', 'invalid-yaml', message), file, ...at }))
  return moveTo(line, { line: 1, verdicts, faults: unreadable })
}

function isList(value: unknown): boolean {
  return (value as { kind?: unknown } | null)?.kind === 'List'
}

/** The section at another line. Its objects keep their identity if the line is unchanged. */
function moveTo(line: number, section: ReadSection): ReadSection {
  const by = line - section.line
  if (by === 0) return section
  const moved = (at: FileProblem): FileProblem => ({ ...at, line: (at.line ?? 1) + by })
  const moveObject = (object: ApiObject): ApiObject => ({
    ...object,
    origin: { ...object.origin, line: (object.origin.line ?? 1) + by },
  })
  const verdicts = section.verdicts.map(({ object, route, problems, ...rest }): Verdict => {
    const standIn = route?.standIn && moveObject(route.standIn)
    return {
      ...rest,
      ...(object === undefined ? {} : { object: moveObject(object) }),
      ...(route === undefined ? {} : { route: { ...route, standIn } }),
      problems: problems.map(moved),
    }
  })
  return { line, verdicts, faults: section.faults.map(moved) }
}

interface TextSection extends ReadSection {
  readonly text: string
}

function gather(sections: readonly TextSection[], file: string): Omit<ParsedFile, 'parses' | 'sections'> {
  const objects: ApiObject[] = []
  const firsts = new Map<string, ApiObject>()
  const refused: string[] = []
  const unidentified: PartialName[] = []
  const refusedPolicies: RefusedPolicy[] = []
  const refusedRoutes: RefusedRoute[] = []
  const problems: FileProblem[] = []
  for (const section of sections) {
    for (const [index, verdict] of section.verdicts.entries()) {
      const { object, name = object?.origin, partial, policy, route, problems: found } = verdict
      problems.push(...found)
      if (policy !== undefined) refusedPolicies.push(policy)
      if (route !== undefined) refusedRoutes.push(route)
      if (partial !== undefined) unidentified.push(partial)
      if (name === undefined) continue
      const key = objectKey(name.kind, name.namespace, name.name)
      const first = firsts.get(key)
      if (object !== undefined) {
        objects.push(object)
        if (first === undefined) firsts.set(key, object)
      } else if (first === undefined) refused.push(key)
      // The store reports objects that it has, and among them stand-ins.
      else if (route?.standIn === undefined)
        problems.push(duplicateOf(first, name, { file, ...positionOfName(section, index) }))
    }
  }
  return {
    objects,
    problems,
    refused,
    unidentified,
    refusedPolicies,
    refusedRoutes,
  }
}

function positionOfName(
  { text, line }: TextSection,
  index: number,
): { readonly line: number; readonly column: number } {
  const { pieces, lines } = readPieces(text)
  const position = positionOf(lines, pieces[index]!, 'metadata.name')
  return { ...position, line: position.line + line - 1 }
}

/** @param first the object that already has the name */
export function duplicateOf({ origin }: ApiObject, name: ObjectName, position: FilePosition): FileProblem {
  const message = `duplicate ${name.kind}: the object at ${origin.file}:${origin.line} has the same name; this object is ignored, so give it another name`
  const object = `${name.kind} ${name.namespace}/${name.name}`
  return { ...problem('metadata.name', 'duplicate-object', message), ...position, object }
}

function checkObject(value: unknown, line: number, file: string): CheckResult {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problems: [problem('', 'not-an-object', 'must be an object with apiVersion, kind and metadata')] }
  }
  // In a folder of objects, and no object.
  if (looksLikePrices(value)) return { problems: readPriceFile(value).problems }
  const { apiVersion, kind } = value as Record<string, unknown>
  const missing = Object.entries({ apiVersion, kind }).filter(([, member]) => typeof member !== 'string')
  if (missing.length > 0) {
    const problems = missing.map(([field]) => problem(field, 'required', `${field} is required in a file`))
    return { ...identityOf(value), ...refusedPolicyOf(value), problems }
  }
  const info = recognise(String(apiVersion), String(kind))
  if (!('code' in info)) return admit(value, { info, place: { file, line } })
  // A warning: an object of other software, which has no version in force.
  if (info.severity !== 'error') return { problems: [info] }
  const problems = [info]
  const meant = meantKind(String(apiVersion), String(kind))
  const name = meant && nameOf(value, meant)
  const route = name && meant && refusedRouteOf(value, name, { info: meant, place: { file, line } })
  return { ...identityOf(value), ...refusedPolicyOf(value, meant), ...route, problems }
}

/** The kind that an object certainly has, although its kind, group or version has a mistake: that of its group that is one edit away, or a known one. */
function meantKind(apiVersion: string, kind: string): KindInfo | undefined {
  const known = findKind(kind)
  if (known !== undefined) return known
  const group = groupOf(apiVersion)
  return KINDS.find((info) => info.group === group && isOneEditAway(kind, info.kind))
}

function groupOf(apiVersion: string): string {
  return apiVersion.slice(0, Math.max(apiVersion.lastIndexOf('/'), 0))
}

/** The kind of an object in a file, or the reason why it is not supported. */
function recognise(apiVersion: string, kind: string): KindInfo | ConfigProblem {
  const group = groupOf(apiVersion)
  const version = apiVersion.slice(apiVersion.lastIndexOf('/') + 1)
  const info = findKind(kind)
  if (info === undefined) return unknownKind(group, kind)
  if (info.group !== group) return wrongGroup(info, apiVersion, group)
  if (info.versions.includes(version)) return info
  const served = info.versions.map((each) => apiVersionOf(info, each)).join(', ')
  return problem('apiVersion', 'unknown-version', `${kind} has no version "${version}"; use ${served}`)
}

/** Objects of other software in the same files are only a warning, unless the kind looks like a misspelled one. */
function unknownKind(group: string, kind: string): ConfigProblem {
  const meaning = KIND[plainWord(kind)]
  if (meaning !== undefined) {
    const severity = group === OWN_GROUP ? 'error' : 'warning'
    return problem('kind', 'unknown-kind', `kind "${kind}" is not supported by the gateway: ${meaning}`, severity)
  }
  const names = KINDS.map((info) => info.kind)
  const nearest = suggest(kind, names)
  if (nearest !== undefined)
    return problem('kind', 'unknown-kind', `unknown kind "${kind}", did you mean "${nearest}"?`)
  const ours = KINDS.filter((info) => info.own).map((info) => info.kind)
  if (group === OWN_GROUP) {
    return problem('kind', 'unknown-kind', `unknown kind "${kind}"; the kinds of ${group} are ${ours.join(', ')}`)
  }
  return problem('kind', 'unknown-kind', `kind "${kind}" is not supported by the gateway and has no effect`, 'warning')
}

function wrongGroup(info: KindInfo, apiVersion: string, group: string): ConfigProblem {
  const expected = apiVersionOf(info)
  const groups = KINDS.map((each) => each.group)
  const foreign = group !== '' && info.group !== '' && suggest(group, groups) === undefined
  if (foreign || (info.group === '' && suggest(group, groups) === undefined)) {
    const message = `${info.kind} of "${apiVersion}" is not supported by the gateway; use ${info.kind} of ${expected}`
    return problem('apiVersion', 'unknown-kind', message, 'warning')
  }
  return problem(
    'apiVersion',
    'unknown-kind',
    `there is no ${info.kind} in "${apiVersion}", did you mean "${expected}"?`,
  )
}
