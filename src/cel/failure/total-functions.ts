/**
 * Functions that yield a value for all arguments of their types. A function that is not listed may fail, so a missing entry
 * causes an unnecessary warning, never a missing one.
 */
export const TOTAL_FUNCTIONS: ReadonlySet<string> = new Set([
  ...['base64.encode', 'base64Encode', 'bytes', 'contains', 'distinct', 'dyn', 'endsWith', 'family', 'first'],
  ...[
    'flattenRecursive',
    'flatten_recursive',
    'getDate',
    'getDayOfMonth',
    'getDayOfWeek',
    'getDayOfYear',
    'getFullYear',
  ],
  ...['getHours', 'getMilliseconds', 'getMinutes', 'getMonth', 'getSeconds', 'hasValue', 'ip.isCanonical', 'isCIDR'],
  ...['isGlobalUnicast', 'isIP', 'isLinkLocalMulticast', 'isLinkLocalUnicast', 'isLoopback', 'isUnspecified', 'join'],
  ...[
    'last',
    'lowerAscii',
    'masked',
    'matches',
    'math.bitAnd',
    'math.bitNot',
    'math.bitOr',
    'math.bitXor',
    'math.ceil',
  ],
  ...['math.floor', 'math.isFinite', 'math.isInf', 'math.isNaN', 'math.round', 'math.sign', 'math.sqrt', 'math.trunc'],
  ...[
    'md5.encode',
    'merge',
    'optional.none',
    'optional.of',
    'optional.ofNonZeroValue',
    'optional.unwrap',
    'or',
    'orValue',
  ],
  ...['prefixLength', 'random', 'raw', 'redacted', 'regexReplace', 'replace', 'reverse', 'sets.contains'],
  ...[
    'sets.equivalent',
    'sets.intersects',
    'sha1.encode',
    'sha256.encode',
    'size',
    'split',
    'startsWith',
    'strings.quote',
  ],
  ...['stripPrefix', 'stripSuffix', 'toJson', 'to_json', 'trim', 'type', 'unredacted', 'unwrapOpt', 'upperAscii'],
  ...['url.encode', 'uuid', 'containsIP', 'containsCIDR', 'ip', 'addQuery', 'setQuery'],
])

/** Overloads that cannot fail, although other overloads of the function can. */
export const TOTAL_SIGNATURES: ReadonlySet<string> = new Set([
  ...['bool(bool) -> bool', 'double(double) -> double', 'double(int) -> double', 'double(uint) -> double'],
  ...['duration(duration) -> duration', 'timestamp(timestamp) -> timestamp', 'int(int) -> int', 'uint(uint) -> uint'],
  ...['int(timestamp) -> int', 'string(string) -> string', 'string(bool) -> string', 'string(int) -> string'],
  ...[
    'string(uint) -> string',
    'string(double) -> string',
    'string(timestamp) -> string',
    'string(duration) -> string',
  ],
  ...['string(net.IP) -> string', 'string(net.CIDR) -> string', 'flatten(dyn) -> flattened'],
  ...['(list(list(A))).flatten() -> list(A)', '(string).indexOf(string) -> int', '(string).lastIndexOf(string) -> int'],
  ...['math.abs(uint) -> uint', 'math.abs(double) -> double'],
  ...['math', ''].flatMap((namespace) =>
    (namespace === '' ? ['min', 'max'] : ['math.least', 'math.greatest']).flatMap((name) =>
      ['int', 'uint', 'double', 'dyn'].map((type) => `${name}(${type}...) -> ${type}`),
    ),
  ),
])

/**
 * Functions that fail only for some texts in one argument (counting the receiver): a pattern, a time zone. A constant was tested at compile
 * time.
 */
export const TOTAL_WITH_CONSTANT: ReadonlyMap<string, number> = new Map([
  ['matches', 1],
  ['regexReplace', 1],
  ...[
    'getDate',
    'getDayOfMonth',
    'getDayOfWeek',
    'getDayOfYear',
    'getFullYear',
    'getHours',
    'getMilliseconds',
    'getMinutes',
    'getMonth',
    'getSeconds',
  ].map((name) => [name, 1] as const),
])

/** Functions that fail only if the last argument is not a valid address. */
export const TOTAL_FOR_ADDRESSES: ReadonlySet<string> = new Set(['containsIP', 'containsCIDR', 'ip'])
