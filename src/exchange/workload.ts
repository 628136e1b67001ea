/** A Pod, for distinguishing clients. */
export interface Workload {
  readonly name: string
  readonly namespace: string
  readonly serviceAccount: string
}

/** Finds the Pod with an address. This is not authentication: addresses can be forged and are reused. */
export interface Workloads {
  at(address: string): Workload | undefined
}
