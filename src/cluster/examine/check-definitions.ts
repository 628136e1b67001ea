import { customResourceDefinition } from '#api/definitions/custom-resource-definition.ts'
import { GATEWAY_GROUP, OWN_GROUP } from '#api/groups.ts'
import { KINDS, type KindInfo } from '#api/kinds.ts'
import { count } from '#base/count.ts'
import { sameData } from '#base/incremental/same-data.ts'
import { isSupportedVersion, SUPPORTED_RANGE } from '#control/status/supported-version.ts'
import { definitionPath } from '../definition-path.ts'
import { BUNDLE_VERSION } from '../gateway-definitions.ts'
import { itemsOf, type Members, membersOf, textOf } from '../kubeconfig.ts'
import { type Check, failure, ok, unknown, warning } from './check.ts'
import type { ClusterReader } from './cluster-reader.ts'

/** Without these, nothing works. */
const NEEDED: readonly string[] = ['GatewayClass', 'Gateway', 'HTTPRoute']

const INSTALL_OWN = 'install or upgrade the chart gatewright-crds of the version of this program'
const INSTALL_GATEWAY_API = 'install the standard channel of the Gateway API'

interface Found {
  readonly info: KindInfo
  readonly name: string
  readonly definition: Members
}

/** Checks the definitions of our kinds and of the Gateway API. */
export async function checkDefinitions(reader: ClusterReader): Promise<readonly Check[]> {
  const groups = [OWN_GROUP, GATEWAY_GROUP].map((group) => KINDS.filter((info) => info.group === group))
  return (await Promise.all(groups.map((infos) => checkGroup(reader, infos)))).flat()
}

async function checkGroup(reader: ClusterReader, infos: readonly KindInfo[]): Promise<readonly Check[]> {
  const { group } = infos[0]!
  const read = infos.map(async (info) => {
    const name = `${info.plural}.${group}`
    return { info, name, reading: await reader.object(definitionPath(name)) }
  })
  const readings = await Promise.all(read)
  const refused = readings.flatMap(({ reading }) => ('why' in reading ? reading.why : []))
  if (refused.length > 0) return [unknown('definitions', group, refused[0]!)]
  const found = readings.flatMap(({ info, name, reading }): Found[] =>
    'value' in reading && reading.value !== undefined ? [{ info, name, definition: reading.value }] : [],
  )
  const missing = readings.filter(({ name }) => !found.some((each) => each.name === name))
  const problems = [...missing.map(({ info, name }) => missingCheck(info, name)), ...found.flatMap(checkDefinition)]
  return problems.length > 0 ? problems : [ok('definitions', describe(group, found))]
}

function describe(group: string, found: readonly Found[]): string {
  if (group === OWN_GROUP) return `${count(found.length, 'definition')} of ${group}, those of this program`
  const versions = [...new Set(found.map(({ definition }) => bundleVersion(definition)))]
  return `${count(found.length, 'definition')} of ${group}, ${versions.join(', ')}`
}

function missingCheck(info: KindInfo, name: string): Check {
  const detail = `${name} is not installed`
  if (info.own) return failure('definitions', detail, INSTALL_OWN)
  if (NEEDED.includes(info.kind)) return failure('definitions', detail, INSTALL_GATEWAY_API)
  return warning('definitions', detail, `${INSTALL_GATEWAY_API}, if you want to use ${info.kind}`)
}

function checkDefinition({ info, name, definition }: Found): readonly Check[] {
  const spec = membersOf(definition.spec)
  const versions = itemsOf(spec.versions).map(membersOf)
  const served = versions.flatMap((version) => (version.served === true ? (textOf(version.name) ?? []) : []))
  const install = info.own ? INSTALL_OWN : INSTALL_GATEWAY_API
  const unready = notReady(definition)
  if (unready !== undefined)
    return [failure('definitions', `${name}: ${unready}`, 'remove the definition that it conflicts with')]
  if (!served.some((version) => info.versions.includes(version)))
    return [failure('definitions', `${name} serves ${served.join(', ')}, not ${info.versions.join(' or ')}`, install)]
  return [
    ...checkStored(name, definition),
    ...(info.own ? checkOwn({ info, name, definition }) : checkBundle(name, definition)),
  ]
}

function notReady({ status }: Members): string | undefined {
  const conditions = itemsOf(membersOf(status).conditions).map(membersOf)
  const bad = conditions.find(
    (condition) =>
      (condition.type === 'NamesAccepted' || condition.type === 'Established') && condition.status !== 'True',
  )
  return bad && (textOf(bad.message) ?? `its condition ${bad.type} is not True`)
}

/** Objects may be stored in versions that a later definition does not have any more. */
function checkStored(name: string, definition: Members): readonly Check[] {
  const versions = itemsOf(membersOf(definition.spec).versions).map(membersOf)
  const storage = textOf(versions.find(({ storage }) => storage === true)?.name)
  const others = itemsOf(membersOf(definition.status).storedVersions).filter((version) => version !== storage)
  if (others.length === 0) return []
  return [
    warning(
      'definitions',
      `${name}: objects may be stored as ${others.join(', ')}, while ${storage} is the version to store`,
      'run gatewright definitions migrate',
    ),
  ]
}

function checkOwn({ info, name, definition }: Found): readonly Check[] {
  const own = membersOf(customResourceDefinition(info).spec)
  if (sameData(schemasOf(own), schemasOf(membersOf(definition.spec)))) return []
  return [
    warning(
      'definitions',
      `${name} differs from the definition of this program`,
      `${INSTALL_OWN}, or use the program of the version that is installed`,
    ),
  ]
}

/** An API server adds defaults elsewhere in a definition, and drops `properties` without any. */
function schemasOf(spec: Members): unknown {
  const versions = itemsOf(spec.versions).map(membersOf)
  return versions.map(({ name, served, storage, schema }) => ({ name, served, storage, schema: withoutEmpty(schema) }))
}

function withoutEmpty(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutEmpty)
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(
    ([name, member]) => name !== 'properties' || Object.keys(membersOf(member)).length > 0,
  )
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutEmpty(member)]))
}

function checkBundle(name: string, definition: Members): readonly Check[] {
  const version = bundleVersion(definition)
  if (isSupportedVersion(version)) return []
  const has = version === '' ? 'names no version of the Gateway API' : `is of ${version}`
  return [warning('definitions', `${name} ${has}; ${SUPPORTED_RANGE}`, INSTALL_GATEWAY_API)]
}

function bundleVersion({ metadata }: Members): string {
  return textOf(membersOf(membersOf(metadata).annotations)[BUNDLE_VERSION]) ?? ''
}
