import type { ProxyParametersObject, ResourceOverlaySpec } from '#api/proxy-parameters.ts'
import type { Finding } from '#base/finding.ts'
import { sameData } from '#base/incremental/same-data.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { isJsonArray, isJsonObject } from '#patch/json-object.ts'
import { type MergeKeys, mergeKeysOf } from '#patch/merge-keys.ts'
import { applyStrategicMergePatch } from '#patch/strategic-merge-patch.ts'
import { CONTAINER, VOLUMES } from './container.ts'
import { type Manifest, type Step, textOfPath, valueAt } from './manifest.ts'
import { GATEWAY_LABEL } from './names.ts'

/** Fields of ProxyParameters with overlays. */
export type OverlayField =
  | 'deployment'
  | 'service'
  | 'serviceAccount'
  | 'podDisruptionBudget'
  | 'horizontalPodAutoscaler'

/** An overlay, and where it is written. */
export interface Overlay {
  readonly object: ProxyParametersObject
  readonly field: OverlayField
  readonly patch: ResourceOverlaySpec
}

/** The overlays of a field in rising precedence: that of the class, then that of the Gateway. */
export function overlaysOf(parameters: readonly ProxyParametersObject[], field: OverlayField): readonly Overlay[] {
  return parameters.flatMap((object) => {
    const patch = object.spec[field]
    return patch === undefined ? [] : [{ object, field, patch }]
  })
}

/** An object with its overlays, or why it cannot have them. */
export type Overlaid =
  | { readonly manifest: Manifest; readonly fault?: never }
  | { readonly manifest?: never; readonly fault: Finding }

/** Lays overlays over an object, one after the other (specification 1, 2.5, overlay rules). */
export function applyOverlays(generated: Manifest, overlays: readonly Overlay[]): Overlaid {
  let manifest = generated
  for (const overlay of overlays) {
    const overlaid = applyOverlay(manifest, overlay)
    if (overlaid.fault !== undefined) return overlaid
    manifest = overlaid.manifest
  }
  return { manifest }
}

function applyOverlay(before: Manifest, overlay: Overlay): Overlaid {
  const { metadata = {}, spec } = overlay.patch
  const named: Manifest = { ...before, metadata: mergeMetadata(before.metadata, metadata) }
  if (spec !== undefined && before.kind === 'ServiceAccount')
    return { fault: faultOf(overlay, 'a ServiceAccount has no spec; remove it') }
  const patch: JsonObject = spec === undefined ? {} : { spec: withoutDeletedFields(spec as JsonObject) }
  const { value, failure } = applyStrategicMergePatch(named, patch, keysOf(before.kind))
  if (failure !== undefined) return { fault: faultOf(overlay, `the overlay cannot be applied: ${failure.message}`) }
  const paths = [OWN_LABEL, ...PROTECTED[overlay.field]]
  const changed = paths.find((path) => !sameData(valueAt(before, path), valueAt(value, path)))
  if (changed === undefined) return { manifest: value as Manifest }
  const message = `the overlay changes ${textOfPath(changed)} of the ${before.kind}, which the gateway depends on; remove the change`
  return { fault: faultOf(overlay, message, changed === OWN_LABEL ? 'metadata' : 'spec') }
}

function faultOf({ object, field }: Overlay, message: string, part: 'metadata' | 'spec' = 'spec'): Finding {
  return {
    origin: object.origin,
    path: `spec.${field}.${part}`,
    code: 'parameters-invalid',
    message,
    severity: 'error',
  }
}

function mergeMetadata(before: JsonObject, overlay: NonNullable<ResourceOverlaySpec['metadata']>): JsonObject {
  const maps = Object.entries(overlay).map(([name, map]) => [name, { ...(before[name] as JsonObject), ...map }])
  return { ...before, ...Object.fromEntries(maps) }
}

/**
 * `$patch: delete` as the value of a field removes the field (specification 1, 2.5, overlay rule 4). A strategic merge patch would leave an
 * empty object there, which not every field may have.
 */
function withoutDeletedFields(patch: JsonObject): JsonObject {
  const isDeletion = (value: Json) => isJsonObject(value) && value.$patch === 'delete'
  const convert = (value: Json): Json => {
    if (isJsonArray(value)) return value.map(convert)
    return isJsonObject(value) ? withoutDeletedFields(value) : value
  }
  return Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [name, isDeletion(value) ? null : convert(value)]),
  )
}

/** The platform's keys, and tolerations by `key` (specification 1, 2.5, overlay rule 3), which the platform replaces as a whole. */
const DEPLOYMENT = withFields(mergeKeysOf('Deployment'), ['spec', 'template', 'spec'], {
  tolerations: { mergeKey: 'key' },
})

function withFields(keys: MergeKeys, [name, ...path]: readonly string[], added: Fields): MergeKeys {
  const inner = name === undefined ? added : { [name]: withFields(keys.fields?.[name] ?? {}, path, added) }
  return { ...keys, fields: { ...keys.fields, ...inner } }
}

type Fields = NonNullable<MergeKeys['fields']>

function keysOf(kind: string): MergeKeys {
  return kind === 'Deployment' ? DEPLOYMENT : mergeKeysOf(kind)
}

/** By it, the controller finds objects that are no longer wanted. */
const OWN_LABEL: readonly Step[] = ['metadata', 'labels', GATEWAY_LABEL]

const POD: readonly Step[] = ['spec', 'template', 'spec']
const PROXY: readonly Step[] = [...POD, 'containers', { name: CONTAINER }]

/**
 * What overlays must leave as it is. Without it a pod gets no configuration (account, token, authority), no traffic (selector), or both before it
 * is ready (probes).
 */
const PROTECTED: { readonly [Field in OverlayField]: readonly (readonly Step[])[] } = {
  deployment: [
    ['spec', 'selector'],
    ['spec', 'template', 'metadata', 'labels', 'app.kubernetes.io/name'],
    ['spec', 'template', 'metadata', 'labels', 'app.kubernetes.io/instance'],
    ['spec', 'template', 'metadata', 'labels', GATEWAY_LABEL],
    [...POD, 'serviceAccountName'],
    [...POD, 'serviceAccount'],
    [...POD, 'volumes', { name: VOLUMES.config.name }],
    [...POD, 'volumes', { name: VOLUMES.token.name }],
    [...PROXY, 'name'],
    [...PROXY, 'volumeMounts', { name: VOLUMES.config.name }],
    [...PROXY, 'volumeMounts', { name: VOLUMES.token.name }],
    [...PROXY, 'startupProbe'],
    [...PROXY, 'readinessProbe'],
  ],
  service: [['spec', 'selector']],
  serviceAccount: [],
  podDisruptionBudget: [['spec', 'selector']],
  horizontalPodAutoscaler: [['spec', 'scaleTargetRef']],
}
