import type { Head } from '#net/http/head.ts'

/** Version of the messages API if the client sends none. */
export const MESSAGES_VERSION = '2023-06-01'

/** Where clients of the messages API name the beta features that they want. */
export const BETA_FIELD = 'anthropic-beta'

/** Those of the wanted beta features that a platform knows. */
export function wantedBetas(head: Head, known: ReadonlySet<string>): readonly string[] {
  const wanted = head.getAll(BETA_FIELD).flatMap((value) => value.split(','))
  return [...new Set(wanted.map((name) => name.trim()))].filter((name) => known.has(name))
}
