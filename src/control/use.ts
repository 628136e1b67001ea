/** A place (a rule, a policy's target, a backend) from which requests go to a backend. */
export interface Use {
  /** Key of the place, see `plan/target.ts`. */
  readonly from: string
  /** Key of a `BackendItem`. */
  readonly to: string
}

/** The places to which a use leads: what is sent to a port is sent to its Service. */
export function placesOfUse({ to }: Use): readonly string[] {
  return isServicePort(to) ? [to, serviceOf(to)] : [to]
}

export function isServicePort(place: string): boolean {
  return place.startsWith('Service/') && place.split('/').length === 4
}

export function serviceOf(port: string): string {
  return port.slice(0, port.lastIndexOf('/'))
}
