/** Words that are no identifiers in CEL; an API server gives fields with these names another one (Kubernetes, "Escaping"). */
const RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return void while'.split(
    ' ',
  ),
)

/** The expression for a field of an object in the rules of an API server. */
export function fieldIn(object: string, name: string): string {
  return `${object}.${RESERVED.has(name) ? `__${name}__` : name}`
}
