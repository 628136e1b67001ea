import type { ProxyParametersObject } from '#api/proxy-parameters.ts'
import type { Json, JsonObject } from '#base/json.ts'
import { renderGateways } from '#cli/render/render-gateways.ts'
import type { Manifest } from '#deploy/manifest.ts'
import { applyOverlays, type OverlayField } from '#deploy/overlay.ts'
import { defaultSettings } from '#deploy/settings.ts'
import { isJsonArray, isJsonObject } from '#patch/json-object.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { isSameMerge } from '../../kubernetes/strategic-merge.ts'
import type { Part } from '../../run-parts.ts'
import { type RunningCluster, restrictedNamespace, runningCluster } from '../running-cluster.ts'
import { type OverlayExample, randomOverlay } from './random-overlays.ts'
import { gateway, parameters } from './team.ts'

const NAMESPACE = 'gatewright-overlays'
const EXAMPLES = 60

const FIELDS: Readonly<Record<string, OverlayField>> = {
  Deployment: 'deployment',
  Service: 'service',
  PodDisruptionBudget: 'podDisruptionBudget',
  HorizontalPodAutoscaler: 'horizontalPodAutoscaler',
}

/** Random overlays, compared with what kubectl makes of them, and with what the API server accepts and stores. */
export const checkOverlays: Part = async (transcript, stops) => {
  const cluster = runningCluster(stops)
  await restrictedNamespace(cluster, NAMESPACE, stops)
  const generated = generatedObjects()
  const results = []
  for (let seed = 0; seed < EXAMPLES; seed++) {
    const example = randomOverlay(seed)
    const before = named(generated[example.field]!, `main-${seed}`)
    const merged = await mergedByKubectl(cluster, before, asKubectl(example.spec))
    results.push({ seed, example, ours: mergedByUs(before, example), theirs: merged })
  }
  const both = results.filter(({ ours, theirs }) => ours !== undefined && theirs !== undefined)
  const differing = both.filter(({ ours, theirs, example }) => !isSameMerge(ours!, theirs!, example.spec))
  transcript.check('kubectl merges overlays in the same way', differing.slice(0, 2), [])
  transcript.check('most overlays are merged', both.length > EXAMPLES / 2, true)
  const stored = await storedBy(
    cluster,
    both.map(({ ours }) => ours!),
  )
  const storedOfKubectl = await storedBy(
    cluster,
    both.map(({ theirs }) => theirs!),
  )
  transcript.check('the API server accepts the same ones', [...stored.keys()], [...storedOfKubectl.keys()])
  transcript.check('most are accepted', stored.size > both.length / 2, true)
  const storedOtherwise = both.flatMap(({ seed, example }) => {
    const [object, other] = [stored.get(`main-${seed}`), storedOfKubectl.get(`main-${seed}`)]
    const isSame = object === undefined || other === undefined || isSameMerge(object, other, example.spec)
    return isSame ? [] : [{ seed, object, other }]
  })
  transcript.check('and stores the same objects', storedOtherwise.slice(0, 2), [])
  // What kubectl cannot decode, we may merge, but the API server refuses it.
  const onlyOurs = results.flatMap(({ ours, theirs }) => (theirs === undefined ? (ours ?? []) : []))
  transcript.check('what kubectl refuses, the API server refuses', [...(await storedBy(cluster, onlyOurs)).keys()], [])
  await checkDifferences(cluster, generated.deployment!, transcript)
}

/** The two rules that differ from `kubectl patch`. */
async function checkDifferences(
  cluster: RunningCluster,
  deployment: Manifest,
  transcript: Parameters<Part>[0],
): Promise<void> {
  const toleration = (key: string, more: JsonObject = {}) => ({ key, operator: 'Exists', ...more })
  const pod = (spec: JsonObject): OverlayExample => ({ field: 'deployment', spec: { template: { spec } } })
  const before = mergedByUs(deployment, pod({ tolerations: [toleration('a'), toleration('b')] }))!
  const added = pod({ tolerations: [toleration('b', { effect: 'NoSchedule' }), toleration('c')] })
  const keysIn = (object: JsonObject | undefined) =>
    ((podOf(object)?.tolerations ?? []) as readonly JsonObject[])
      .map(({ key, effect }) => `${key} ${effect ?? ''}`.trim())
      .toSorted()
  transcript.check('tolerations are merged by key', keysIn(mergedByUs(before, added)), ['a', 'b NoSchedule', 'c'])
  transcript.check('kubectl replaces them', keysIn(await mergedByKubectl(cluster, before, added.spec)), [
    'b NoSchedule',
    'c',
  ])
  const deleted = pod({ securityContext: { $patch: 'delete' } })
  const contextOf = (object: JsonObject | undefined) => podOf(object)?.securityContext ?? 'none'
  transcript.check('a field is deleted', contextOf(mergedByUs(deployment, deleted)), 'none')
  transcript.check('kubectl leaves it empty', contextOf(await mergedByKubectl(cluster, deployment, deleted.spec)), {})
}

function podOf(object: JsonObject | undefined): JsonObject | undefined {
  const { spec } = object as { spec: { template: { spec: JsonObject } } }
  return spec.template.spec
}

function generatedObjects(): Readonly<Record<string, Manifest>> {
  const withAll = parameters('all', { podDisruptionBudget: {}, horizontalPodAutoscaler: {} })
  const objects = [gateway('main', 'all'), withAll].map((object) => admitObject(object as never))
  const [rendered] = renderGateways(objects, { ...defaultSettings('1.2.3'), authority: 'PEM\n' }).gateways
  const manifests = JSON.parse(JSON.stringify(rendered!.objects)) as Manifest[]
  return Object.fromEntries(
    manifests.flatMap((manifest) => (manifest.kind in FIELDS ? [[FIELDS[manifest.kind]!, manifest]] : [])),
  )
}

function named(manifest: Manifest, name: string): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, name, namespace: NAMESPACE } }
}

/** @returns undefined: the overlay is refused */
function mergedByUs(before: JsonObject, { field, spec }: OverlayExample): Manifest | undefined {
  const object = { origin: { kind: 'ProxyParameters', namespace: '', name: '' } } as ProxyParametersObject
  return applyOverlays(before as Manifest, [{ object, field, patch: { spec } }]).manifest
}

/** @returns undefined: it does not decode the result */
async function mergedByKubectl(
  { kubectl }: RunningCluster,
  before: JsonObject,
  spec: Json,
): Promise<JsonObject | undefined> {
  const words = ['patch', '--local', '--type=strategic', '-f', '-', '-o', 'json', '-p', JSON.stringify({ spec })]
  const { code, output } = await kubectl(words, JSON.stringify(before))
  return code === 0 ? JSON.parse(output) : undefined
}

/** `$patch: delete` as the value of a field deletes the field here. In a list, it deletes an item. */
function asKubectl(value: Json): Json {
  if (isJsonArray(value)) return value.map((item) => (isDeletion(item) ? item : asKubectl(item)))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isDeletion(member) ? null : asKubectl(member)]),
  )
}

function isDeletion(value: Json): boolean {
  return isJsonObject(value) && value.$patch === 'delete'
}

/** What the API server would store, by name; those that it refuses are missing. */
async function storedBy(
  { kubectl }: RunningCluster,
  items: readonly JsonObject[],
): Promise<ReadonlyMap<string, JsonObject>> {
  if (items.length === 0) return new Map()
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items })
  const { output } = await kubectl(
    ['create', '--dry-run=server', '--validate=false', '-o', 'jsonpath={@}{"\\n"}', '-f', '-'],
    list,
  )
  const objects = output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as { kind: string; metadata: { name: string }; spec: JsonObject })
  return new Map(objects.map(({ metadata, spec }) => [metadata.name, withoutAllocated(spec)]))
}

/** Addresses and ports of Services are given anew each time. */
function withoutAllocated({ clusterIP: _, clusterIPs: __, ...spec }: JsonObject): JsonObject {
  const hide = (value: Json): Json => {
    if (isJsonArray(value)) return value.map(hide)
    if (!isJsonObject(value)) return value
    const { nodePort: _, ...others } = value
    return Object.fromEntries(Object.entries(others).map(([name, member]) => [name, hide(member)]))
  }
  return hide(spec) as JsonObject
}
