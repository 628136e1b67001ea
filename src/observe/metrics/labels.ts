import type { Ended } from '../ended.ts'
import { ENDED, type Field, type FieldName, type Group } from '../fields.ts'

/** A field of a completed request as a label: its name and its reader. */
interface Label {
  readonly name: string
  readonly chosenByPeers: boolean
  read(ended: Ended): string
}

const LABELS: ReadonlyMap<string, Label> = new Map(ENDED.flatMap(labelsOf))

function labelsOf({ of, fields }: Group<Ended>): [string, Label][] {
  return fields.flatMap((field): [string, Label][] => {
    const { name, label, chosenByPeers = false } = field
    if (label === undefined) return []
    const read = (ended: Ended) => {
      const subject = of(ended)
      return subject === undefined ? 'unknown' : labelValue(field, subject)
    }
    return [[name, { name: label, chosenByPeers, read }]]
  })
}

function labelValue(field: Field<object>, subject: object): string {
  const value = field.read(subject)
  if (value === undefined || value === '') return 'unknown'
  const text = String(value)
  return field.labelValues === undefined || field.labelValues.has(text) ? text : 'other'
}

/** Labels of a metric for fields of a completed request, after the metric's other labels. */
export function labelled(
  fields: readonly FieldName[],
  ...own: readonly string[]
): { readonly labels: readonly string[]; readonly chosenByPeers: readonly string[] } {
  const labels = fields.map(labelOf)
  return {
    labels: [...own, ...labels.map(({ name }) => name)],
    chosenByPeers: labels.filter(({ chosenByPeers }) => chosenByPeers).map(({ name }) => name),
  }
}

/** Readers of their values, in the same order. */
export function labelReader(fields: readonly FieldName[]): (ended: Ended) => string[] {
  const labels = fields.map(labelOf)
  return (ended) => labels.map(({ read }) => read(ended))
}

function labelOf(field: FieldName): Label {
  const label = LABELS.get(field)
  if (label === undefined) throw new Error(`${field} is no label`)
  return label
}

export function unknownIfEmpty(value: string): string {
  return value === '' ? 'unknown' : value
}
