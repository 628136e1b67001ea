import { sameData } from '#base/incremental/same-data.ts'
import { parseJson } from '#base/parse-json.ts'
import type { Resource } from '#store/resources/resource.ts'
import { forbiddenField, invalidField, requiredField, tooLongField } from '../kinds/field-errors.ts'
import type { Cause, WrittenObject } from '../kinds/served-kind.ts'
import { ENTRY_NAME, formProblem } from '../schemas/name-forms.ts'

type Entries = Readonly<Record<string, string>>

const MAX_BYTES = 1024 * 1024

/** Entries that a type of Secret must have; of an inner list, one. */
const REQUIRED_ENTRIES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  'kubernetes.io/tls': [['tls.crt'], ['tls.key']],
  'kubernetes.io/basic-auth': [['username', 'password']],
  'kubernetes.io/ssh-auth': [['ssh-privatekey']],
  'kubernetes.io/dockercfg': [['.dockercfg']],
  'kubernetes.io/dockerconfigjson': [['.dockerconfigjson']],
}
const JSON_ENTRIES: readonly string[] = ['.dockercfg', '.dockerconfigjson']
const ACCOUNT_TOKEN = 'kubernetes.io/service-account-token'
const ACCOUNT_NAME = 'kubernetes.io/service-account.name'

/** A Secret as it is stored: texts become entries like all others, and it has a type (Kubernetes, `Secret.stringData`). */
export function completeSecret(written: WrittenObject): WrittenObject {
  const { stringData, data, type, ...rest } = written
  const encoded = Object.entries((stringData ?? {}) as Entries).map(([name, text]) => [
    name,
    Buffer.from(text).toString('base64'),
  ])
  const entries = { ...(data as Entries | undefined), ...Object.fromEntries(encoded) }
  const hasEntries = data !== undefined || stringData !== undefined
  return { ...rest, ...(hasEntries ? { data: entries } : {}), type: type || 'Opaque' } as WrittenObject
}

/** Rules for Secrets (Kubernetes, `ValidateSecret`). */
export function checkSecret(object: WrittenObject, before: Resource | undefined): readonly Cause[] {
  const {
    data = {},
    type = 'Opaque',
    metadata,
  } = object as WrittenObject & {
    readonly data?: Entries
    readonly type?: string
  }
  const causes: Cause[] = []
  const bytes = Object.values(data).reduce((sum, base64) => sum + bytesOfBase64(base64), 0)
  checkNames(data, 'data', causes)
  if (bytes > MAX_BYTES) causes.push(tooLongField('data', MAX_BYTES))
  for (const names of Object.hasOwn(REQUIRED_ENTRIES, type) ? REQUIRED_ENTRIES[type]! : []) {
    if (names.some((name) => Object.hasOwn(data, name))) checkJsonEntries(data, names, causes)
    else for (const name of names) causes.push(requiredField(`data[${name}]`))
  }
  const { annotations = {} } = metadata as { readonly annotations?: Entries }
  if (type === ACCOUNT_TOKEN && !annotations[ACCOUNT_NAME])
    causes.push(requiredField(`metadata.annotations[${ACCOUNT_NAME}]`))
  if (before !== undefined && type !== (before.type ?? 'Opaque'))
    causes.push(invalidField('type', type, 'field is immutable'))
  checkImmutable(object, before, ['data'], causes)
  return causes
}

/** Rules for ConfigMaps (Kubernetes, `ValidateConfigMap`). */
export function checkConfigMap(object: WrittenObject, before: Resource | undefined): readonly Cause[] {
  const { data = {}, binaryData = {} } = object as WrittenObject & {
    readonly data?: Entries
    readonly binaryData?: Entries
  }
  const causes: Cause[] = []
  checkNames(data, 'data', causes)
  checkNames(binaryData, 'binaryData', causes)
  for (const name of Object.keys(binaryData)) {
    if (Object.hasOwn(data, name))
      causes.push(invalidField(`data[${name}]`, name, 'duplicate of key present in binaryData'))
  }
  const bytes =
    Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0) +
    Object.values(binaryData).reduce((sum, base64) => sum + bytesOfBase64(base64), 0)
  if (bytes > MAX_BYTES) causes.push(tooLongField('', MAX_BYTES))
  checkImmutable(object, before, ['data', 'binaryData'], causes)
  return causes
}

function bytesOfBase64(base64: string): number {
  return Buffer.byteLength(base64, 'base64')
}

function checkNames(entries: Entries, path: string, causes: Cause[]): void {
  for (const name of Object.keys(entries)) {
    const problem = formProblem(name, ENTRY_NAME)
    if (problem !== undefined) causes.push(invalidField(`${path}[${name}]`, name, problem))
  }
}

/** Refusals do not show the values: they are secret. */
function checkJsonEntries(data: Entries, names: readonly string[], causes: Cause[]): void {
  for (const name of names.filter((each) => JSON_ENTRIES.includes(each))) {
    try {
      parseJson(Buffer.from(data[name]!, 'base64').toString())
    } catch {
      causes.push(invalidField(`data[${name}]`, '<secret contents redacted>', 'must be JSON'))
    }
  }
}

function checkImmutable(
  object: WrittenObject,
  before: Resource | undefined,
  members: readonly string[],
  causes: Cause[],
): void {
  if (before?.immutable !== true) return
  const detail = 'field is immutable when `immutable` is set'
  if (object.immutable !== true) causes.push(forbiddenField('immutable', detail))
  for (const name of members) {
    if (!sameData(object[name] ?? {}, before[name] ?? {})) causes.push(forbiddenField(name, detail))
  }
}
