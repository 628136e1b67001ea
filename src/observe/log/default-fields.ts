import { ENDED } from '../fields.ts'

/** The first fields of a JSON line; attributes must not repeat them. */
export const STARTS_LINE: ReadonlySet<string> = new Set(['level', 'time', 'scope'])

/** All default fields of access log lines (docs/behaviour/observability.md, "Access log"), in order. */
export const DEFAULT_FIELDS: readonly string[] = ENDED.flatMap(({ fields }) =>
  fields.filter(({ logged }) => logged !== false).map(({ name }) => name),
)

/** The default fields that a line omits: removed fields, and fields that an added field of the same name replaces. */
export function removedFields(removed: readonly string[], added: readonly string[]): ReadonlySet<string> {
  const given = new Set([...removed, ...added])
  return new Set(DEFAULT_FIELDS.filter((name) => given.has(name)))
}

/** Whether members of an added value, `<name>.<member>`, may have the names of default fields. */
export function mayCoverFields(added: readonly string[]): boolean {
  return DEFAULT_FIELDS.some((field) => added.some((name) => field.startsWith(`${name}.`)))
}
