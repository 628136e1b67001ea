import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyConfiguration } from '#apiserver/apply/apply.ts'
import { updateManagedFields } from '#apiserver/apply/managed-fields.ts'
import type { Transcript } from '../transcript.ts'
import { EXAMPLE_SCHEMA } from './example-schema.ts'
import { type ExampleWrite, randomWrites } from './random-writes.ts'
import { askReferee, canonical } from './referee.ts'

const SEQUENCES = 4000

type Example = Readonly<Record<string, unknown>>

/** The outcome of one write. */
interface Outcome {
  readonly object?: Example
  readonly conflict?: string
  readonly error?: string
}

/** Compares the managers of fields, and server-side apply, with the code of Kubernetes in some thousand random sequences of writes. */
export async function checkManagedFields(transcript: Transcript): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-fields-'))
  try {
    const schema = join(folder, 'schema.json')
    writeFileSync(schema, JSON.stringify(EXAMPLE_SCHEMA))
    const sequences = Array.from({ length: SEQUENCES }, (_, seed) => randomWrites(seed))
    const lines = await askReferee('manage-fields', [schema], sequences)
    const theirs = lines.map((line) => JSON.parse(line) as readonly Outcome[])
    const differences = sequences.flatMap((writes, seed) => firstDifference(seed, writes, theirs[seed]!))
    const outcomes = theirs.flat()
    transcript.check('writes compared', outcomes.length > 10_000, true)
    transcript.check('with conflicts', outcomes.filter(({ conflict }) => conflict !== undefined).length > 1000, true)
    transcript.check('with success', outcomes.filter(({ object }) => object !== undefined).length > 5000, true)
    transcript.check('the same objects, managers and conflicts', differences.slice(0, 2), [])
    transcript.check('sequences with differences', differences.length, 0)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function firstDifference(seed: number, writes: readonly ExampleWrite[], theirs: readonly Outcome[]): readonly object[] {
  let live: Example | undefined
  for (const [step, write] of writes.entries()) {
    const ours = outcomeOf(live, write)
    const expected = theirs[step]!
    if (canonical(comparable(ours)) !== canonical(comparable(expected))) {
      return [{ seed, step, write, live, ours: comparable(ours), theirs: comparable(expected) }]
    }
    live = ours.object ?? live
  }
  return []
}

function outcomeOf(live: Example | undefined, write: ExampleWrite): Outcome {
  const { manager, subresource, force, object } = write
  if (live === undefined && subresource !== undefined) return { error: 'not found' }
  const context = {
    manager,
    subresource,
    force,
    hasStatus: true,
    schema: EXAMPLE_SCHEMA,
    apiVersion: 'example.dev/v1',
    now: '2030-01-01T00:00:00Z',
  }
  if (write.operation === 'Update') {
    return { object: stored(live, updateManagedFields(live, stored(live, object, subresource), context), subresource) }
  }
  const outcome = applyConfiguration(live, object, context)
  if (outcome.conflicts !== undefined) return { conflict: outcome.conflicts.message }
  if (outcome.failure !== undefined) return { error: outcome.failure.message }
  return { object: stored(live, outcome.object, subresource) }
}

/** What a request can write of an object: all but the status, or only that. Members that are null are pruned. */
function stored(live: Example | undefined, next: Example, subresource: string | undefined): Example {
  const { status: written, ...rest } = next
  const { metadata, ...others } = subresource === undefined ? rest : live!
  const { managedFields } = next.metadata as Example
  const status = subresource === undefined ? live?.status : written
  const { managedFields: _, ...kept } = metadata as Example
  const members = {
    ...others,
    metadata: { ...kept, uid: '1', ...(managedFields === undefined ? {} : { managedFields }) },
    status,
  }
  return pruned(members) as Example
}

function pruned(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item !== null).map(pruned)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined)
  return Object.fromEntries(members.map(([name, member]) => [name, pruned(member)]))
}

/** Without the times of managers but whether they have one; errors without their texts; lines of conflicts in any order. */
function comparable({ object, conflict, error }: Outcome): unknown {
  if (error !== undefined) return { error: true }
  if (conflict !== undefined) return { conflict: conflict.split('\n').sort() }
  const { metadata, ...members } = object!
  const { managedFields = [], ...rest } = metadata as Example & { readonly managedFields?: readonly Example[] }
  const managers = managedFields.map(({ time, ...entry }) => canonical({ ...entry, hasTime: time !== undefined }))
  const others = Object.entries(members).filter(([name, member]) => name !== 'status' || member !== undefined)
  return { ...Object.fromEntries(others), metadata: rest, managers: managers.sort() }
}
