/** One model of a list for clients. */
export interface ListedModel {
  readonly id: string
  readonly owner: string
  /** For people. */
  readonly name: string
  /** Milliseconds since the epoch; undefined: unknown. */
  readonly createdMs: number | undefined
}
