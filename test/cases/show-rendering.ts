import type { ApiObject } from '#api/object.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { type RenderedGateways, renderGateways } from '#cli/render/render-gateways.ts'
import { defaultSettings } from '#deploy/settings.ts'
import type { GoldenParts } from './golden-case.ts'
import { showFinding } from './show-translation.ts'

const SETTINGS = {
  ...defaultSettings('1.2.3'),
  controllerUrl: 'https://controller.system.svc:9978',
  authority: 'PEM of the authority\n',
}

/**
 * What a controller applies, as golden cases show it: `objects`, `changes` of values against the same Gateways without parameters,
 * infrastructure and addresses (null: removed), and `findings`.
 */
export function showRendering(objects: readonly ApiObject[]): GoldenParts {
  const rendered = renderGateways(objects, SETTINGS)
  const manifests = manifestsOf(rendered)
  const before = manifestsOf(renderGateways(objects.map(withoutOptions), SETTINGS))
  return {
    objects: manifests,
    changes: rendered.gateways.some((gateway) => gateway.objects === undefined)
      ? ['nothing is applied']
      : Object.fromEntries(changesOf(before, manifests, '')),
    findings: rendered.findings.map(showFinding),
  }
}

function withoutOptions(object: ApiObject): ApiObject {
  const { infrastructure: _, addresses: __, parametersRef: ___, ...spec } = object.spec as JsonObject
  return { ...object, spec }
}

/** By kind and name, without members that several objects share, which YAML would show once. */
function manifestsOf({ gateways }: RenderedGateways): Readonly<Record<string, JsonObject>> {
  const manifests = gateways.flatMap(({ objects = [], sessionKeySecret }) =>
    [...objects, sessionKeySecret ?? []].flat(),
  )
  const titled = manifests.map((object) => [`${object.kind}/${object.metadata.name}`, object])
  return JSON.parse(JSON.stringify(Object.fromEntries(titled)))
}

/** The values that differ, by path. */
function changesOf(before: Json, after: Json | undefined, path: string): readonly (readonly [string, Json])[] {
  const [own, other] = [membersOf(before), membersOf(after)]
  if (own === undefined || other === undefined) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [[path, after ?? null]]
  }
  const names = [...new Set([...own.keys(), ...other.keys()])]
  return names.flatMap((name) =>
    changesOf(own.get(name) ?? null, other.get(name), path === '' ? name : `${path}.${name}`),
  )
}

/** Members of an object; items of a list by name. */
function membersOf(value: Json | undefined): ReadonlyMap<string, Json> | undefined {
  if (Array.isArray(value)) {
    const names = value.map(nameOf)
    return names.includes(undefined) ? undefined : new Map(value.map((item: Json, i) => [names[i]!, item]))
  }
  return value === null || typeof value !== 'object' ? undefined : new Map(Object.entries(value))
}

function nameOf(item: Json): string | undefined {
  const { name, topologyKey, key } = Object(item) as { readonly [name: string]: string }
  return name ?? topologyKey ?? key
}
