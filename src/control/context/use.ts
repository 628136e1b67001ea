/** A rule, policy target or backend that sends requests to a backend. */
export interface Use {
  /** Key of the sender, see `plan/target.ts`. */
  readonly from: string
  /** Key of a `BackendItem`. */
  readonly to: string
}

/** The targets of a use. Requests to a Service port are also requests to the Service. */
export function targetsOfUse({ to }: Use): readonly string[] {
  return isServicePort(to) ? [to, serviceOf(to)] : [to]
}

export function isServicePort(target: string): boolean {
  return target.startsWith('Service/') && target.split('/').length === 4
}

export function serviceOf(port: string): string {
  return port.slice(0, port.lastIndexOf('/'))
}
