import { objectKey } from '#api/object.ts'
import type { Finding } from '#base/finding.ts'
import type { NodeFault, Stages } from '#base/incremental/stage.ts'
import type { Table } from '#base/incremental/table.ts'
import type { Origin } from '#base/origin.ts'

/** The object of a fault whose rows do not name one. */
export type OwnerOf = (fault: NodeFault) => Origin | undefined

const WRITER = 'fault'

/** Reports the faults of stages at the objects that they concern. */
export class FaultReports {
  readonly #stages: Stages
  readonly #problems: Table<Finding>
  readonly #ownerOf: OwnerOf
  #reported: ReadonlySet<string> = new Set()

  /** @param problems gets the findings, by key of the object */
  constructor(stages: Stages, problems: Table<Finding>, ownerOf: OwnerOf) {
    this.#stages = stages
    this.#problems = problems
    this.#ownerOf = ownerOf
  }

  /** Replaces the findings by those of the last update of the stages. @returns the keys of the objects with faults */
  update(): ReadonlySet<string> {
    const findings = this.#stages.faults.flatMap((fault) => faultFindings(fault, this.#ownerOf))
    const byObject = Map.groupBy(findings, ({ origin: { kind, namespace, name } }) => objectKey(kind, namespace, name))
    for (const key of this.#reported) if (!byObject.has(key)) this.#problems.put(key, WRITER, [])
    for (const [key, each] of byObject) this.#problems.put(key, WRITER, each)
    this.#reported = new Set(byObject.keys())
    return this.#reported
  }
}

/** The text of the error may hold secrets. It is only in the log, which hides them. */
function faultFindings(fault: NodeFault, ownerOf: OwnerOf): readonly Finding[] {
  const { stage, rows, error } = fault
  const origins = rows.flatMap((row) => originOf(row) ?? [])
  const what = error instanceof Error ? error.name : typeof error
  const message = `a bug of the gateway stopped the translation of this object (${what} in stage ${stage}): its previous version stays in force; report the log entry "a bug in the gateway"`
  const owners = origins.length > 0 ? origins : [ownerOf(fault) ?? []].flat()
  return owners.map((origin) => ({ origin, path: '', code: 'translation-failed', message, severity: 'error' }))
}

/** The members of rows that have, or lead to, the object that a row is from. */
const LEADING = ['object', 'route', 'rule', 'listener', 'owner', 'loser'] as const

type Row = { readonly [Member in (typeof LEADING)[number]]?: unknown } & { readonly origin?: Origin }

function originOf(row: unknown): Origin | undefined {
  if (typeof row !== 'object' || row === null) return undefined
  const { origin, ...members } = row as Row
  if (origin !== undefined) return origin
  for (const name of LEADING) {
    const found = originOf(members[name])
    if (found !== undefined) return found
  }
  return undefined
}
