/**
 * A password hash as `htpasswd` of Apache writes it (specification 1, 5.4; decision A-67). The format determines the function; salt and cost
 * are part of the text.
 */
export type HashFormat = 'apr1' | 'md5' | 'bcrypt' | 'sha256' | 'sha512' | 'des' | 'sha1'

/** Hashes of a higher cost take more than a second each (docs/behaviour/http.md, "Basic authentication"). */
const MAX_BCRYPT_COST = 14
const MAX_SHA_ROUNDS = 500_000

const FORMATS: readonly (readonly [format: HashFormat, pattern: RegExp])[] = [
  ['apr1', /^\$apr1\$[./0-9A-Za-z]{1,8}\$[./0-9A-Za-z]{22}$/],
  ['md5', /^\$1\$[./0-9A-Za-z]{1,8}\$[./0-9A-Za-z]{22}$/],
  ['bcrypt', /^\$2[aby]\$(?<cost>\d\d)\$[./0-9A-Za-z]{53}$/],
  ['sha256', /^\$5\$(?:rounds=(?<rounds>[1-9]\d{3,8})\$)?[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{43}$/],
  ['sha512', /^\$6\$(?:rounds=(?<rounds>[1-9]\d{3,8})\$)?[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{86}$/],
  ['sha1', /^\{SHA\}[+/0-9A-Za-z]{27}=$/],
  ['des', /^[./0-9A-Za-z]{13}$/],
]

const UNKNOWN_FORMAT =
  'its hash is not MD5 (apr1), bcrypt (2a, 2b, 2y), crypt or SHA-1, as htpasswd writes them; passwords in plain text are not supported'

/** The format of a hash, or why it cannot be used. The text of a fault has no part of the hash. */
export function formatOf(hash: string): HashFormat | { readonly fault: string } {
  for (const [format, pattern] of FORMATS) {
    const groups = pattern.exec(hash)?.groups
    if (groups === undefined && !pattern.test(hash)) continue
    return faultOfCost(groups) ?? format
  }
  return { fault: UNKNOWN_FORMAT }
}

function faultOfCost({ cost, rounds }: Readonly<Record<string, string | undefined>> = {}) {
  if (cost !== undefined && (Number(cost) < 4 || Number(cost) > MAX_BCRYPT_COST)) {
    return { fault: `its cost ${Number(cost)} is not between 4 and ${MAX_BCRYPT_COST}` }
  }
  if (rounds !== undefined && Number(rounds) > MAX_SHA_ROUNDS) {
    return { fault: `its number of rounds ${rounds} is above ${MAX_SHA_ROUNDS}` }
  }
  return undefined
}
