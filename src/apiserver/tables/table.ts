import type { Column } from '#api/definitions/printer-columns.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { ServedKind } from '../kinds/served-kind.ts'
import { humanDuration } from './human-duration.ts'
import { type JsonPath, jsonPath } from './json-path.ts'
import { partialMetadata } from './partial-metadata.ts'

/** What the rows of a table carry besides their cells (`includeObject`). */
export type IncludedObject = 'None' | 'Metadata' | 'Object'

const NAME = { name: 'Name', type: 'string', format: 'name', description: 'Name of the object.', priority: 0 }

/** Makes rows of the objects of one kind (Kubernetes, `meta.k8s.io/v1` Table). */
export class TableWriter {
  readonly columnDefinitions: readonly object[]
  readonly #cells: readonly ((object: Resource, nowMs: number) => unknown)[]

  constructor({ columns }: Pick<ServedKind, 'columns'>) {
    this.columnDefinitions = [
      NAME,
      ...columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({
        name,
        type,
        format,
        description,
        priority,
      })),
    ]
    this.#cells = columns.map(cellOf)
  }

  row(object: Resource, include: IncludedObject, nowMs: number): object {
    const cells = [object.metadata.name, ...this.#cells.map((cell) => cell(object, nowMs))]
    if (include === 'None') return { cells }
    return { cells, object: include === 'Object' ? object : partialMetadata(object) }
  }
}

function cellOf({ jsonPath: text, type }: Column): (object: Resource, nowMs: number) => unknown {
  const path: JsonPath = jsonPath(text) ?? (() => [])
  if (type === 'date') return (object, nowMs) => ageOf(path(object)[0], nowMs)
  return (object) => {
    const values = path(object)
    if (values.length === 0) return null
    return type === 'string' ? values.map(textOf).join(',') : values[0]
  }
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  return typeof value === 'object' && value !== null ? pairsOf(value) : String(value)
}

/** Labels, as `kubectl` prints selectors. */
function pairsOf(value: object): string {
  return Object.entries(value)
    .map(([key, member]) => `${key}=${typeof member === 'object' ? JSON.stringify(member) : member}`)
    .join(',')
}

function ageOf(value: unknown, nowMs: number): string | null {
  const at = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : humanDuration(nowMs - at)
}
