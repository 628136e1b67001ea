/** Closes a `switch` over a discriminated union: a new member becomes a compile error here. */
export function assertNever(value: never): never {
  throw new Error(`unexpected value ${JSON.stringify(value)}`)
}
