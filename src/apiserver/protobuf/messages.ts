import MESSAGES from './messages.json' with { type: 'json' }

/**
 * A field of a message of the platform. Types: `string`, `bool`, `int`, `bytes`, `time`, `microTime`, `quantity`, `intOrString`, `fields`, `raw`, or a message; `[]`: a
 * list, `{}`: a map, `*`: a scalar that is present although it is zero. A field without name has the members of its message.
 */
export type MessageField = readonly [number: number, name: string, type: string]

/** By name of the message. */
const TABLE = MESSAGES as unknown as Readonly<Record<string, readonly MessageField[]>>

/** @param message a name that `messageOf` returned, or the type of a field */
export function fieldsOf(message: string): readonly MessageField[] {
  return TABLE[message]!
}

/** The message of a kind of the platform; undefined: it has none. */
export function messageOf(apiVersion: string, kind: string): string | undefined {
  if (kind === 'DeleteOptions') return 'meta/v1.DeleteOptions'
  const slash = apiVersion.lastIndexOf('/')
  const group = slash < 0 ? 'core' : apiVersion.slice(0, slash).replace(/\.k8s\.io$/, '')
  const name = `${group}/${apiVersion.slice(slash + 1)}.${kind}`
  return Object.hasOwn(TABLE, name) ? name : undefined
}
