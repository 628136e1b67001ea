import type { Json } from '#base/json.ts'
import { type MergeKeys, mergeKeysOf } from '#patch/merge-keys.ts'
import { applyStrategicMergePatch } from '#patch/strategic-merge-patch.ts'
import type { Transcript } from '../transcript.ts'
import { type PatchExample, randomPatch } from './random-patches.ts'
import { askReferee, canonical } from './referee.ts'

const EXAMPLES = 5000
/** Kubernetes cannot arrange lists that are empty. Here they stay empty. */
const ONLY_THERE = 'no elements in any of the given slices'

/** What the code of Kubernetes makes of an example. */
interface Merged {
  readonly object?: Json
  readonly error?: string
}

/** Compares strategic merge patches with the code of Kubernetes: the merge keys of all kinds, and some thousand random patches. */
export async function checkStrategicMerge(transcript: Transcript): Promise<void> {
  const keys = await askReferee('merge-objects', ['keys'], [])
  const kinds = [...new Set(keys.map((line) => line.slice(0, line.indexOf('.'))))]
  const ours = kinds.flatMap((kind) => flattened(kind, mergeKeysOf(kind)))
  transcript.check('the merge keys are those of the Go types', ours.toSorted(), keys.toSorted())
  const examples = Array.from({ length: EXAMPLES }, (_, seed) => randomPatch(seed))
  const theirs = (await askReferee('merge-objects', [], examples)).map((line) => JSON.parse(line) as Merged)
  const differences = examples.flatMap((example, seed) => difference(example, theirs[seed]!, seed))
  const applied = theirs.filter(({ object }) => object !== undefined).length
  transcript.check('most patches apply, some are refused', applied > EXAMPLES / 2 && applied < EXAMPLES, true)
  transcript.check('patches have the same result', differences.slice(0, 3), [])
  transcript.check('number of differences', differences.length, 0)
}

function flattened(path: string, { fields = {} }: MergeKeys): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const own = field.mergeKey === undefined ? [] : [`${path}.${name} ${field.mergeKey}`]
    return [...own, ...flattened(`${path}.${name}`, field)]
  })
}

function difference(example: PatchExample, merged: Merged, seed: number): readonly object[] {
  const { value, failure } = applyStrategicMergePatch(example.object, example.patch, mergeKeysOf(example.kind))
  if (merged.error === ONLY_THERE) return []
  if (merged.error !== undefined)
    return failure !== undefined ? [] : [{ seed, ...example, ours: value, theirs: merged.error }]
  if (isSameMerge(value, merged.object!, example.patch)) return []
  return [{ seed, ...example, ours: value ?? failure, theirs: merged.object }]
}

/** Whether Kubernetes makes the same of a patch. */
export function isSameMerge(ours: Json | undefined, merged: Json, patch: Json): boolean {
  const theirs = decoded(merged)
  if (canonical(ours) === canonical(theirs)) return true
  // Kubernetes deletes items in place from the list whose order it takes afterwards.
  const isDisordered = JSON.stringify(patch).includes('"$patch":"delete"')
  return isDisordered && ours !== undefined && canonical(unordered(ours)) === canonical(unordered(theirs!))
}

/** What the API server's types keep of a result: no null, and nothing that is left of the directives. */
function decoded(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(decoded).filter((item) => item !== undefined)
  if (typeof value !== 'object' || value === null) return value
  if ('$patch' in value) return undefined
  const kept = Object.entries(value)
    .filter(([name, member]) => member !== null && !name.startsWith('$'))
    .map(([name, member]) => [name, decoded(member)] as const)
  return Object.fromEntries(kept.filter(([, member]) => member !== undefined)) as Json
}

function unordered(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(unordered).sort((a, b) => (canonical(a) < canonical(b) ? -1 : 1))
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unordered(member)]))
}
