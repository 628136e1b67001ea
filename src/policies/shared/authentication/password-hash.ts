/** Hashes of a higher cost take more than a second each (docs/behaviour/http.md, "Basic authentication"). */
const MAX_BCRYPT_COST = 14
const MAX_SHA_ROUNDS = 500_000

/** Password hashes as `htpasswd` of Apache writes them (specification 1, 5.4; decision A-67). Salt and cost are part of the text. */
const FORMATS: readonly RegExp[] = [
  /^\$apr1\$[./0-9A-Za-z]{1,8}\$[./0-9A-Za-z]{22}$/,
  /^\$1\$[./0-9A-Za-z]{1,8}\$[./0-9A-Za-z]{22}$/,
  /^\$2[aby]\$(?<cost>\d\d)\$[./0-9A-Za-z]{53}$/,
  /^\$5\$(?:rounds=(?<rounds>[1-9]\d{3,8})\$)?[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{43}$/,
  /^\$6\$(?:rounds=(?<rounds>[1-9]\d{3,8})\$)?[./0-9A-Za-z]{1,16}\$[./0-9A-Za-z]{86}$/,
  /^\{SHA\}[+/0-9A-Za-z]{27}=$/,
  /^[./0-9A-Za-z]{13}$/,
]

const UNKNOWN_FORMAT =
  'its hash is not MD5 (apr1), bcrypt (2a, 2b, 2y), crypt or SHA-1, as htpasswd writes them; passwords in plain text are not supported'

/** @returns why a hash cannot be used, without any part of it; undefined: it can be used */
export function faultOfHash(hash: string): string | undefined {
  for (const format of FORMATS) {
    const match = format.exec(hash)
    if (match !== null) return faultOfCost(match.groups)
  }
  return UNKNOWN_FORMAT
}

function faultOfCost({ cost, rounds }: Readonly<Record<string, string | undefined>> = {}): string | undefined {
  if (cost !== undefined && (Number(cost) < 4 || Number(cost) > MAX_BCRYPT_COST)) {
    return `its cost ${Number(cost)} is not between 4 and ${MAX_BCRYPT_COST}`
  }
  if (rounds !== undefined && Number(rounds) > MAX_SHA_ROUNDS) {
    return `its number of rounds ${rounds} is above ${MAX_SHA_ROUNDS}`
  }
  return undefined
}
