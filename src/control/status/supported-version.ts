import type { GatewayClassObject } from '#api/gateway-class.ts'
import { compareText } from '#base/compare-text.ts'
import { type ConditionDraft, conditionsOf } from '../context/condition.ts'

/** The version of each CustomResourceDefinition of the Gateway API that the cluster has, by its name; empty: it has none. */
export type DefinitionVersions = ReadonlyMap<string, string>

/** Minor versions of Gateway API 1. Since 1.4, BackendTLSPolicy is `v1`, and the status of a class has its features. */
const [OLDEST, NEWEST] = [4, 7]

export const SUPPORTED_RANGE = `v1.${OLDEST} to v1.${NEWEST} of the Gateway API are supported`

/** Whether the definitions of the cluster have a version that is known here (Gateway API, GatewayClassConditionStatusSupportedVersion). */
export function supportedVersion(object: GatewayClassObject, versions: DefinitionVersions): ConditionDraft {
  const condition = conditionsOf(object)
  const wrong = [...versions]
    .filter(([, version]) => !isSupportedVersion(version))
    .sort(([a], [b]) => compareText(a, b))
  if (wrong.length === 0) return condition('SupportedVersion', 'True', 'SupportedVersion', SUPPORTED_RANGE)
  const found = wrong.map(([name, version]) => `${name} has ${version === '' ? 'no version' : version}`).join(', ')
  return condition('SupportedVersion', 'False', 'UnsupportedVersion', `${SUPPORTED_RANGE}, but ${found}`)
}

/** @param version of a definition, such as `v1.4.0` */
export function isSupportedVersion(version: string): boolean {
  const minor = Number(/^v1\.(\d{1,3})\.\d+(?:-|$)/.exec(version)?.[1])
  return minor >= OLDEST && minor <= NEWEST
}
