/** No real name is longer. In characters. */
const MAX_NAME_LENGTH = 1024

/**
 * A name that a client chooses in a body, such as that of a tool, cut for logs and spans: a record that becomes too large would not be exported,
 * so a client could keep its requests out of them.
 */
export function cutName(name: string): string {
  return name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH - 1)}\u2026` : name
}
