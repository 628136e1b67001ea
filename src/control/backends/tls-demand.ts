/** A backend that must be reached over TLS as a BackendTLSPolicy says. */
export interface TlsDemand {
  readonly policy: string
  /** Name or number of the one port that it is about. */
  readonly sectionName: string | undefined
}

/** Why a backend cannot be used, if one of the demands is about it. @param sections names of the port in use; undefined: of all */
export function unmetDemand(demands: readonly TlsDemand[], sections?: readonly string[]): string | undefined {
  const unmet = demands.find(
    ({ sectionName }) => sectionName === undefined || sections === undefined || sections.includes(sectionName),
  )
  return unmet && `BackendTLSPolicy ${unmet.policy} is not implemented yet`
}
