import { cutText } from '#base/cut-text.ts'

/** No real name is longer. In characters. */
const MAX_NAME_LENGTH = 1024

/**
 * A name that a client chooses in a body, such as that of a tool, cut for logs and spans: a record that becomes too large would not be exported,
 * so a client could keep its requests out of them.
 */
export function cutName(name: string): string {
  return cutText(name, MAX_NAME_LENGTH)
}
