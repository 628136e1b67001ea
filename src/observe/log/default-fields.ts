import { ENDED } from '../fields.ts'

/** What a line of JSON begins with; no attribute may repeat them. */
export const STARTS_LINE: ReadonlySet<string> = new Set(['level', 'time', 'scope'])

/** Every field that lines of the access log have by themselves (docs/behaviour/http.md, "Access log"), in their order. */
export const DEFAULT_FIELDS: readonly string[] = ENDED.flatMap(({ fields }) =>
  fields.filter(({ logged }) => logged !== false).map(({ name }) => name),
)

/** Which of them a line is without: those that are removed, and those whose place an added field of the same name takes. */
export function removedFields(removed: readonly string[], added: readonly string[]): ReadonlySet<string> {
  const given = new Set([...removed, ...added])
  return new Set(DEFAULT_FIELDS.filter((name) => given.has(name)))
}

/** Whether members of an added value, `<name>.<member>`, may have the name of one of them. */
export function mayCoverFields(added: readonly string[]): boolean {
  return DEFAULT_FIELDS.some((field) => added.some((name) => field.startsWith(`${name}.`)))
}
