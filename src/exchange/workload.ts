/** A pod, as callers are told apart by it. */
export interface Workload {
  readonly name: string
  readonly namespace: string
  readonly serviceAccount: string
}

/** Finds the pod that has an address. Nothing proves that the caller is that pod: addresses can be forged and are given out again. */
export interface Workloads {
  at(address: string): Workload | undefined
}
