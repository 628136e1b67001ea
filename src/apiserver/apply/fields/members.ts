/** An object of JSON whose members are not checked. */
export type Members<T = unknown> = Readonly<Record<string, T>>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of the object itself; inherited members such as `constructor` are absent. */
export function ownMember<T>(object: Members<T>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
