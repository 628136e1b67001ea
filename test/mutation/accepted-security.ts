import type { Accepted } from './accepted.ts'

// Lines of `base/known-secrets.ts`, and parts of them.
const CONDITION = '(samples[bit >>> 3]! & (1 << (bit & 7))) !== 0'
const MAY_HOLD = `if (${CONDITION}) return true`
const FILTER = '(this.#filter[bit >>> 3]! & (1 << (bit & 7))) === 0'
const FILTERED = `if (${FILTER}) return 0`
const FIRST = 'const first = text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8)'
const SECOND = 'const sample = first ^ (text.charCodeAt(at + 2) << 16) ^ (text.charCodeAt(at + 3) << 24)'
const HASHED = 'return Math.imul(sample, 0x9e_37_79_b1) >>> (32 - SAMPLE_BITS)'
const SAMPLES = 'readonly #samples = new Uint8Array(2 ** (SAMPLE_BITS - 3))'
const FILTER_BYTES = 'readonly #filter = new Uint8Array((FILTER_BITS + 1) / 8)'
const EMPTY = 'this.#values.size === 0'
const SHORT = 'text.length < MIN_LENGTH'
const NO_SAMPLE = '!this.#mayHoldValue(text)'
const NO_SEARCH = `if (${EMPTY} || ${SHORT} || ${NO_SAMPLE}) return text`

/** Mutants of password hashes, of authorization servers and of global rate limits that no test needs to notice. */
export const ACCEPTED_SECURITY: readonly Accepted[] = [
  {
    file: 'workers/passwords/password-memory.ts',
    line: 'readonly #key = randomBytes(32)',
    original: '32',
    replacement: '(32 + 1)',
    reason: 'the same program: the key of an HMAC may have any length',
  },
  ...[
    ['let block: Bits = new Uint8Array(64)', '64'],
    ['for (let at = 0; at < 64; at += 6) {', '<', '64'],
    ['const key = new Uint8Array(64)', '64'],
    ['for (let byte = 0; byte < 8; byte++) {', '<', '8'],
    ['for (let bit = 0; bit < 7; bit++) key[8 * byte + bit] = ((password[byte] ?? 0) >> (6 - bit)) & 1', '<', '7'],
    ['for (let n = 0; n < 12; n++) {', '<', '12'],
    ['let left = permuted.subarray(0, 32)', '32'],
    ['const swapped = new Uint8Array(64)', '64'],
    ['const output = new Uint8Array(32)', '32'],
    ['for (let i = 0; i < 4; i++) output[4 * box + i] = (value >> (3 - i)) & 1', '<', '4'],
  ].flatMap(([line, ...originals]) =>
    originals.map((original) => ({
      file: 'workers/passwords/des-crypt.ts',
      line: line!,
      original,
      replacement: original === '<' ? '<=' : `(${original} + 1)`,
      reason: 'the same program: the additional bit is 0, not read, or overwritten',
    })),
  ),
  ...[
    ["import.meta.url.endsWith('.ts')", 'true'],
    ["'.ts'", "''"],
    ["'./password-thread.js'", "''"],
  ].map(([original, replacement]) => ({
    file: 'workers/passwords/slow-hashes.ts',
    line: "const ENTRY = import.meta.url.endsWith('.ts') ? './password-thread.ts' : './password-thread.js'",
    original: original!,
    replacement: replacement!,
    reason: 'differs only in the bundle, which these tests do not run',
  })),
  {
    file: 'workers/passwords/slow-hashes.ts',
    line: "const thread = new Worker(this.#entry, { name: 'passwords' })",
    original: "'passwords'",
    replacement: "''",
    reason: 'only the name of the thread in tools of the system',
  },
  ...[
    ['issuer-url.ts', "const url = URL.parse(issuer ?? '')"],
    ['register-client.ts', "const url = URL.parse(endpoint ?? '')"],
  ].map(([file, line]) => ({
    file: `policies/shared/sign-in/${file}`,
    line: line!,
    original: "''",
    replacement: "'mutated'",
    reason: 'the same program: neither text is an address',
  })),
  ...[
    "? unavailable('server', found)",
    ": answerJson('server', 200, JSON.stringify(adaptServerMetadata(this.#plan, found, origin, path))),",
  ].map((line) => ({
    file: 'policies/shared/sign-in/sign-in.ts',
    line,
    original: "'server'",
    replacement: "''",
    reason: 'the same fields: only those of a registration differ',
  })),
  {
    file: 'policies/traffic/rate-limit/apply-limit-response.ts',
    line: 'queueLimitHeaders(currentLimit?.requestsPerUnit ?? 0, limitRemaining, durationUntilReset?.seconds ?? 0, exchange)',
    original: '?.',
    replacement: '.',
    reason: 'the same program: only statuses with a limit are compared',
  },
  ...[
    ['cache.deref() === undefined', 'false'],
    ['this.#caches.delete(other)', ';'],
  ].map(([original, replacement]) => ({
    file: 'policies/shared/ext-auth/verdict-cache.ts',
    line: 'for (const [other, cache] of this.#caches) if (cache.deref() === undefined) this.#caches.delete(other)',
    original: original!,
    replacement: replacement!,
    reason: 'only memory: the key of a collected cache stays',
  })),
  {
    file: 'policies/shared/ext-auth/verdict-cache.ts',
    line: "let text = ''",
    original: "''",
    replacement: "'mutated'",
    reason: 'the same program: all keys have the same prefix',
  },
  ...[
    ['edits.setParameters.length > 0 || edits.removedParameters.length > 0', 'true'],
    ['>', '>='],
  ].map(([original, replacement]) => ({
    file: 'policies/shared/ext-auth/verdict.ts',
    line: 'if (edits.setParameters.length > 0 || edits.removedParameters.length > 0) editQuery(request, edits)',
    original: original!,
    replacement: replacement!,
    reason: 'only speed: the same target is set',
  })),
  {
    file: 'policies/traffic/ext-proc/immediate-response.ts',
    line: "const status = grpcStatus?.status ?? (code === 200 ? 0 : grpcStatusOf('ext-proc-failed', code))",
    original: "'ext-proc-failed'",
    replacement: "''",
    reason: 'the same program: only the HTTP status determines the status of this refusal',
  },
  {
    file: 'policies/traffic/rate-limit/compile-global.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the source
    line: ": compile(`${path}.cost`, cost, unit === 'Requests' ? 'request-cost' : 'token-cost', 'value'),",
    original: "'value'",
    replacement: "''",
    reason: 'the same program: only conditions are checked for their type',
  },
  ...[
    ['tokens.length > 0', 'true'],
    ['>', '>='],
  ].map(([original, replacement]) => ({
    file: 'policies/traffic/rate-limit/run-global.ts',
    line: 'if (tokens.length > 0) {',
    original: original!,
    replacement: replacement!,
    reason: 'only speed: without descriptors of tokens, nothing is charged',
  })),
  {
    file: 'policies/traffic/rate-limit/run-global.ts',
    line: 'if (exchange.trace !== undefined) traceQuestion(limit, destination, descriptors, exchange)',
    original: 'exchange.trace !== undefined',
    replacement: 'true',
    reason: 'only speed: a question that nobody reads is prepared',
  },
  ...(
    [
      ['const BASE = 0x01_00_01_93', '0x01_00_01_93', '(0x01_00_01_93 + 1)'],
      ['const SAMPLE = 4', '4', '(4 + 1)'],
      ['const STRIDE = MIN_LENGTH - SAMPLE + 1', '+', '-'],
      ['const SAMPLE_BITS = 18', '18', '(18 + 1)'],
      ['for (let at = 0; at <= text.length - SAMPLE; at += STRIDE) {', '0', '(0 + 1)'],
      ['for (let at = 0; at <= text.length - SAMPLE; at += STRIDE) {', '-', '+'],
      [MAY_HOLD, CONDITION, 'true'],
      [MAY_HOLD, '&', '|'],
      ['return false', 'false', 'true'],
      [FILTERED, FILTER, 'false'],
      [FILTERED, '&', '|'],
      ['for (let at = 0; at < STRIDE; at++) {', '<', '<='],
      [FIRST, '|', '&'],
      [FIRST, '1', '(1 + 1)'],
      [FIRST, '<<', '>>'],
      [FIRST, '8', '(8 + 1)'],
      [SECOND, '<<', '>>'],
      [SECOND, '16', '(16 + 1)'],
      [SECOND, '3', '(3 + 1)'],
      [SECOND, '24', '(24 + 1)'],
      [HASHED, HASHED.slice('return '.length), 'undefined'],
      [HASHED, '0x9e_37_79_b1', '(0x9e_37_79_b1 + 1)'],
      [HASHED, '32', '(32 + 1)'],
      [HASHED, '-', '+'],
    ] as const
  ).map(([line, original, replacement]) => ({
    ...{ file: 'base/known-secrets.ts', line, original, replacement },
    reason: 'only speed: another hash for values and texts alike, or a sample that excludes fewer texts',
  })),
  ...(
    [
      ['2', '(2 + 1)', SAMPLES],
      ['1', '(1 + 1)', FILTER_BYTES],
      ['/', '*', FILTER_BYTES],
      ['values.includes(value)', 'false', 'if (values.includes(value)) return'],
      ['return', ';', 'if (values.includes(value)) return'],
    ] as const
  ).map(([original, replacement, line]) => ({
    ...{ file: 'base/known-secrets.ts', line, original, replacement },
    reason: 'only memory: more than the values need',
  })),
  ...(
    [
      [`${EMPTY} || ${SHORT} || ${NO_SAMPLE}`, 'false'],
      [`${EMPTY} || ${SHORT}`, `((${EMPTY}) && (${SHORT}))`],
      [`${EMPTY} || ${SHORT} || ${NO_SAMPLE}`, `((${EMPTY} || ${SHORT}) && (${NO_SAMPLE}))`],
    ] as const
  ).map(([original, replacement]) => ({
    ...{ file: 'base/known-secrets.ts', line: NO_SEARCH, original, replacement },
    reason: 'only speed: a search finds nothing either',
  })),
  {
    ...{ file: 'base/known-secrets.ts', line: NO_SEARCH, original: '0', replacement: '(0 + 1)' },
    reason: 'each secret has two values at least: itself and its base64',
  },
  ...(
    [
      ['const last = text.length - MIN_LENGTH', '-', '+'],
      ['if (at > last) break', 'at > last', 'false'],
    ] as const
  ).map(([line, original, replacement]) => ({
    ...{ file: 'base/known-secrets.ts', line, original, replacement },
    reason: 'only speed: no value begins in so short a rest of the text',
  })),
  {
    ...{ file: 'base/known-secrets.ts', line: 'if (length > 0) {', original: '0', replacement: '(0 + 1)' },
    reason: 'values have 8 characters at least',
  },
  {
    ...{ file: 'base/known-secrets.ts', line: 'let length = 0', original: '0', replacement: '(0 + 1)' },
    reason: 'the first characters have the same hash',
  },
  {
    file: 'base/known-secrets.ts',
    line: 'while (length < value.length && text[at + length] === value[length]) length++',
    ...{ original: '<', replacement: '<=' },
    reason: 'a value that is there whole is found before',
  },
  {
    ...{ file: 'base/known-secrets.ts', line: 'let lastVersion = 0', original: '0', replacement: '(0 + 1)' },
    reason: 'versions only differ',
  },
]
