import type { Report } from '../context/reporting.ts'

/**
 * Reports references to one object of which some name a part of it and others do not: they name parts, or there is only one (Gateway API,
 * CommonRouteSpec and BackendTLSPolicySpec).
 * @param path of the list
 * @param identityOf the object that a reference names, as text
 * @param fields that name a part
 */
export function reportMixedSections<Ref, Field extends keyof Ref & string>(
  refs: readonly Ref[],
  {
    path,
    identityOf,
    fields,
  }: { readonly path: string; readonly identityOf: (ref: Ref) => string; readonly fields: readonly Field[] },
  report: Report,
): void {
  const identities = refs.map(identityOf)
  for (const [index, ref] of refs.entries()) {
    const first = identities.indexOf(identities[index]!)
    for (const field of fields) {
      if ((ref[field] === undefined) === (refs[first]![field] === undefined)) continue
      const message = `refers to the same object as item ${first}; both must have a ${field}, or neither`
      report({ path: `${path}[${index}]`, code: 'inconsistent', message, severity: 'error' })
    }
  }
}
