import { closeSync, readSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import type { ConfigMapObject } from '#api/config-map.ts'
import { isKind } from '#api/kinds.ts'
import { type ApiObject, keyOf } from '#api/object.ts'
import type { SecretObject } from '#api/secret.ts'
import { secretData } from '#api/secret-data.ts'
import type { ConfigProblem } from '#base/config-problem.ts'
import { describeOrigin } from '#base/origin.ts'
import { certificateFault, type TlsMaterialCheck } from '#base/tls-material.ts'
import { fieldPath, itemPath, problem } from '#schema/index.ts'
import type { FileProblem } from './file-problem.ts'
import { signatureOf } from './file-signature.ts'
import { fileProblem } from './find-files.ts'
import { FieldLocator } from './locate-field.ts'
import { openRegular } from './regular-file.ts'

const MAX_BYTES = 1024 * 1024

/** The variables that `env` of `dataFrom` can name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Where values come from, and what checks pairs of certificate and key. */
export interface Sources {
  readonly environment: Environment
  readonly tlsMaterial: TlsMaterialCheck
}

/** Objects of a file with the entries that their `dataFrom` names. */
export interface FilledObjects {
  readonly objects: readonly ApiObject[]
  readonly problems: readonly FileProblem[]
  /** Keys of the objects of which an entry cannot be read. */
  readonly refused: readonly string[]
  /** The files that were read, or should have been, each with its signature; undefined: it does not exist. */
  readonly sources: ReadonlyMap<string, string | undefined>
}

type WithEntries = SecretObject | ConfigMapObject

/**
 * Replaces `dataFrom` of the objects of a file by the values that it names. An object of which a value is missing is refused as a whole, so
 * that a certificate is never used with the key of another one. No problem contains a value.
 */
export function fillFromOutside(
  objects: readonly ApiObject[],
  text: string,
  { environment, tlsMaterial }: Sources,
): FilledObjects {
  const filled: ApiObject[] = []
  const problems: FileProblem[] = []
  const refused: string[] = []
  const sources = new Map<string, string | undefined>()
  const locator = new FieldLocator(() => text)
  for (const object of objects) {
    const found = hasOutsideEntries(object) ? fill(object, { environment, tlsMaterial, sources }) : object
    if (!Array.isArray(found)) {
      filled.push(found as ApiObject)
      continue
    }
    refused.push(keyOf(object))
    for (const each of found as readonly ConfigProblem[]) problems.push(place(each, object, locator))
  }
  return { objects: filled, problems, refused, sources }
}

/** Whether a file that an object named still has the content that was read. */
export function isUnchanged(path: string, signature: string | undefined): boolean {
  return currentSignature(path) === signature
}

function currentSignature(path: string): string | undefined {
  try {
    return signatureOf(path)
  } catch {
    return undefined
  }
}

function hasOutsideEntries(object: ApiObject): object is WithEntries & ApiObject {
  return (isKind(object, 'Secret') || isKind(object, 'ConfigMap')) && object.dataFrom !== undefined
}

interface Outside extends Sources {
  readonly sources: Map<string, string | undefined>
}

/** @returns the object without `dataFrom`, or what is missing */
function fill(
  object: WithEntries,
  { environment, tlsMaterial, sources }: Outside,
): ApiObject | readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const texts: [string, string][] = []
  const bytes: [string, string][] = []
  const entryFiles: Record<string, string> = {}
  for (const [key, { env, file }] of Object.entries(object.dataFrom ?? {})) {
    const path = itemPath('dataFrom', key)
    if (env !== undefined) {
      const value = environment[env]
      if (value) texts.push([key, value])
      else problems.push(variableMissing(fieldPath(path, 'env'), env, value))
    } else if (file !== undefined) {
      const from = isAbsolute(file) ? file : join(dirname(object.origin.file ?? ''), file)
      entryFiles[key] = from
      sources.set(from, currentSignature(from))
      const content = readBounded(from)
      if (Buffer.isBuffer(content)) bytes.push([key, content.toString('base64')])
      else problems.push({ ...content, path: fieldPath(path, 'file') })
    }
  }
  if (problems.length > 0) return problems
  const origin = bytes.length === 0 ? object.origin : { ...object.origin, entryFiles }
  if (!isKind(object, 'Secret')) {
    const { data, binaryData } = object
    return withoutSources({ ...object, origin, data: added(data, texts), binaryData: added(binaryData, bytes) })
  }
  const filled = { ...object, origin, stringData: added(object.stringData, texts), data: added(object.data, bytes) }
  return pairProblems(filled, tlsMaterial) ?? withoutSources(filled)
}

/** While one of the two files of a pair has been replaced and the other not, the pair does not fit: the last good one stays in use. */
function pairProblems(secret: SecretObject, tlsMaterial: TlsMaterialCheck): readonly ConfigProblem[] | undefined {
  const entry = ['tls.crt', 'tls.key'].find((name) => secret.dataFrom?.[name] !== undefined)
  if (entry === undefined) return undefined
  const { 'tls.crt': cert, 'tls.key': key } = secretData(secret)
  if (cert === undefined || key === undefined) return undefined
  const fault = certificateFault(cert, key, tlsMaterial)
  return fault === undefined ? undefined : [problem(itemPath('dataFrom', entry), 'certificate-pair', fault)]
}

function withoutSources({ dataFrom: _, ...object }: WithEntries): ApiObject {
  return object
}

function added(
  entries: Readonly<Record<string, string>> | undefined,
  more: readonly (readonly [string, string])[],
): Readonly<Record<string, string>> {
  return Object.fromEntries([...Object.entries(entries ?? {}), ...more])
}

function variableMissing(path: string, name: string, value: string | undefined): ConfigProblem {
  return problem(
    path,
    'variable-missing',
    `environment variable ${name} is ${value === undefined ? 'not set' : 'empty'}`,
  )
}

function readBounded(path: string): Buffer | ConfigProblem {
  let file: number | undefined
  try {
    file = openRegular(path)
    if (file === undefined) return problem('', 'file-unreadable', `${path} is not a regular file`)
    const content = Buffer.allocUnsafe(MAX_BYTES + 1)
    let length = 0
    let read = -1
    while (read !== 0 && length < content.length) {
      read = readSync(file, content, length, content.length - length, null)
      length += read
    }
    if (length > MAX_BYTES) return problem('', 'file-too-large', `${path} has more than 1 MiB`)
    return Buffer.from(content.subarray(0, length))
  } catch (error) {
    return named(path, fileProblem(path, error))
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function named(path: string, { code, message }: ConfigProblem): ConfigProblem {
  return problem('', code, `${path}: ${message}`)
}

function place(found: ConfigProblem, { origin }: ApiObject, locator: FieldLocator): FileProblem {
  const { kind, namespace, name, file = '', line = 1 } = origin
  const at = locator.locate(origin, found.path) ?? { file, line, column: 1 }
  return { ...found, ...at, object: describeOrigin({ kind, namespace, name }) }
}
