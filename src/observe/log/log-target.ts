/** The target of lines. */
export interface LogTarget {
  readonly descriptor: number
  /** Several workers write to it, and only short writes are not mixed with those of others (pipe(7)). */
  readonly isPipe: boolean
  /** Called before lines are written. @returns whether later lines go to another file */
  follow(): boolean
  /** Reopens the path. */
  reopen(): void
  close(): void
}
