/** Clients choose names of any length; longer ones are of no vendor. */
const MAX_NAME_LENGTH = 200

/** What platforms put before the name of a model: a path or ARN, the region and vendor of Amazon Bedrock, the mark of a fine-tuned model. */
const PREFIX = /^(?:.*\/)?(?:ft:)?(?:[a-z-]+\.){0,2}(?=[a-z0-9])/
/** What follows the name of a fine-tuned model. */
const TUNED = /^(ft:[^:]*):.*$/
/** One piece after the name: a tag or revision, a date, a short-lived name. */
const SUFFIX =
  /(?::[^:]*|@[^@]*|-v\d+|-\d{8}|-\d{4}-\d{2}-\d{2}|-\d{2}-\d{2}|-\d{2}-\d{4}|-\d{3,4}|-latest|-preview|-exp)$/

/**
 * Reduces the name of a model to a name of a list: without letter case, path, ARN, vendor, region, revision, tag and date. Pieces are removed
 * one by one, so that lists can have names with any of them.
 * @returns undefined if no reduced name is listed
 */
export function reduceModelName(name: string, isListed: (reduced: string) => boolean): string | undefined {
  const bare = bareModelName(name)
  if (bare === '') return undefined
  for (let reduced = bare; ; ) {
    if (isListed(reduced)) return reduced
    const next = reduced.replace(SUFFIX, '')
    if (next === reduced) return undefined
    reduced = next
  }
}

/** The name without what platforms put before it, in lower case; empty for a name that no vendor has. */
export function bareModelName(name: string): string {
  if (name.length > MAX_NAME_LENGTH) return ''
  return name.toLowerCase().replace(TUNED, '$1').replace(PREFIX, '')
}
