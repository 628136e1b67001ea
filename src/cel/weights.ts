/**
 * The costs of work, in steps. A step is a nanosecond on the machine where the weights were measured, with the size and data that are worst
 * for the work; `npm run bench -- cel --weights` measures them again and prints a table. Outside of loops only work that grows with the
 * data is charged: the rest is bounded by the length of the expression.
 */
export const WEIGHTS = {
  /** One iteration of a loop: setting its variables, collecting its result. */
  turn: 40,
  /** One operator, literal, local variable or member inside a loop, per iteration. */
  node: 12,
  /** A declared variable inside a loop, per iteration. */
  variable: 100,
  /** The same, read by key: a field of a head with a hundred fields. */
  field: 800,

  /** A UTF-16 unit of text that `+` creates; V8 concatenates when the text is read. */
  joinedUnit: 1,
  /** A unit of two texts of equal length that `==` compares, and a byte of two byte strings. */
  equalUnit: 0.3,
  /** A unit of two texts that `<` and `sort()` compare. */
  orderedUnit: 2,
  /** A unit of a text that is looked up in a map, as far as it is hashed. */
  keyUnit: 0.6,
  /** One comparison of two values, including elements of lists and maps. */
  comparison: 30,
  /** An element that is copied from one list to another. */
  element: 12,
  /** An entry that is added to a map; per iteration inside a loop. */
  entry: 120,
  /** A value that is looked up in a set, in addition to the units of its text. */
  setMember: 220,
  /** One part of a split text. */
  part: 60,
  /** A unit of a text with surrogates, whose code points are counted one by one. */
  codePoint: 8,

  /** Parsed JSON: a byte of UTF-8, a unit, a delimiter (`,` `:` `[` `{` `"`), a delimiter if numbers are kept exact. */
  utf8Byte: 1,
  jsonUnit: 3,
  jsonDelimiter: 60,
  exactJsonDelimiter: 700,
  /** An element of a JSON list that is converted to a value. */
  jsonElement: 60,
  /** A member name of a JSON object, when the names are listed. */
  jsonName: 60,
  /** A value that is written as JSON, or as text by `format()`, and a unit of its text. */
  writtenValue: 120,
  writtenUnit: 4,

  /** A character of a computed regular expression, `\p` in it, and each repetition by braces. */
  patternUnit: 6000,
  patternClass: 100_000,
  /** A unit of text for a pattern with a small automaton. */
  matchedUnit: 15,
  /** The same for other patterns, and for finding the position of a match: per unit, and per instruction of the compiled pattern. */
  searchedUnit: 150,
  searchedInstruction: 32,
  /** A time zone that has not been used before. */
  timeZone: 100_000,
} as const

/** The cost of a function call. */
export interface FunctionWeight {
  /** The call itself; charged inside loops. */
  readonly call: number
  /** For each UTF-16 unit of string arguments and each byte of bytes arguments. */
  readonly unit: number
  /** For each element of list arguments. */
  readonly element: number
  /** The one argument whose size counts; the receiver is argument 0. */
  readonly only?: number
}

/** For functions that read all of their arguments once. */
const USUAL: FunctionWeight = { call: 100, unit: 2, element: 20 }

/** For functions that do not read the contents of their arguments, or charge their work themselves. */
const CONSTANT: FunctionWeight = { call: 100, unit: 0, element: 0 }

/** The exceptions from `USUAL`. Functions of numbers, times and addresses are charged only for the call. */
const FUNCTIONS: Readonly<Record<string, Partial<FunctionWeight>>> = {
  ...Object.fromEntries(
    ['dyn', 'type', 'first', 'last', 'optional.of', 'optional.ofNonZeroValue', 'or', 'orValue', 'value', 'fail'].map(
      (name) => [name, CONSTANT],
    ),
  ),
  size: { element: 0 },
  // Text.
  startsWith: { unit: 0.3, only: 1 },
  endsWith: { unit: 0.3, only: 1 },
  stripPrefix: { unit: 0.3, only: 1 },
  stripSuffix: { unit: 0.3, only: 1 },
  charAt: { unit: 4 },
  indexOf: { unit: 6 },
  lastIndexOf: { unit: 8 },
  substring: { unit: 6 },
  lowerAscii: { unit: 60 },
  upperAscii: { unit: 60 },
  trim: { unit: 40 },
  reverse: { unit: 60, element: 8 },
  join: { element: 40, unit: 0 },
  format: { call: 500, unit: 20, element: 150 },
  'strings.quote': { unit: 30 },
  matches: { call: 500, unit: 0 },
  regexReplace: { call: 1600, unit: 0 },
  query: { call: 2000, unit: 60 },
  addQuery: { call: 3000, unit: 100 },
  setQuery: { call: 3000, unit: 100 },
  // Encodings.
  'base64.encode': { call: 600, unit: 3 },
  base64Encode: { call: 600, unit: 3 },
  'base64.decode': { call: 500, unit: 3 },
  base64Decode: { call: 500, unit: 3 },
  'md5.encode': { call: 6000, unit: 40 },
  'sha1.encode': { call: 6000, unit: 40 },
  'sha256.encode': { call: 8000, unit: 80 },
  'url.encode': { call: 300, unit: 40 },
  'url.decode': { call: 300, unit: 40 },
  'form.decode': { call: 300, unit: 60 },
  'form.encode': { call: 1000, unit: 40 },
  // JSON: in addition to the charge for delimiters and values.
  json: { call: 500, unit: 0 },
  jsonField: { call: 300, unit: 6 },
  toJson: { call: 500, unit: 0, element: 0 },
  to_json: { call: 500, unit: 0, element: 0 },
  unvalidatedJwtPayload: { call: 1000, unit: 4 },
  // Conversions.
  bool: { unit: 0 },
  int: { call: 200, unit: 0 },
  uint: { call: 200, unit: 0 },
  double: { call: 200, unit: 4 },
  string: { call: 300 },
  timestamp: { call: 1500, unit: 4 },
  duration: { call: 1500, unit: 0 },
  // Lists, sets and maps: comparisons are charged where they are made.
  slice: { element: 8 },
  flatten: { call: 200, element: 0, unit: 0 },
  distinct: { call: 300, element: 0 },
  sort: { call: 300, element: 30 },
  'sets.contains': { call: 300, element: 0 },
  'sets.equivalent': { call: 300, element: 0 },
  'sets.intersects': { call: 300, element: 0 },
  merge: { call: 300 },
  'optional.unwrap': { element: 30 },
  unwrapOpt: { element: 30 },
  // Functions that are expensive even for small arguments.
  ...Object.fromEntries(
    [
      'FullYear',
      'Month',
      'Date',
      'DayOfMonth',
      'DayOfWeek',
      'DayOfYear',
      'Hours',
      'Minutes',
      'Seconds',
      'Milliseconds',
    ].map((field) => [`get${field}`, { call: 6000 }]),
  ),
  uuid: { call: 1000 },
  ip: { call: 1500, unit: 4 },
  isIP: { call: 1500, unit: 4 },
  'ip.isCanonical': { call: 3500, unit: 4 },
  cidr: { call: 2000, unit: 8 },
  isCIDR: { call: 2000, unit: 8 },
  containsIP: { call: 1500, unit: 4 },
  containsCIDR: { call: 2000, unit: 8 },
  cookie: { call: 20_000 },
}

export function weightOf(functionName: string): FunctionWeight {
  const own = FUNCTIONS[functionName]
  return own === undefined ? USUAL : { ...USUAL, ...own }
}
