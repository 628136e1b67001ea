/** An expression over `t` (text), `b` (its bytes) or `d` (its JSON value), and text that is expensive for it. */
export interface WeightCase {
  readonly name: string
  readonly expression: string
  /** Text of about `size` units. */
  readonly text: (size: number) => string
}

type Text = WeightCase['text']

const ascii: Text = (size) => 'a'.repeat(size)
const spaces: Text = (size) => ' '.repeat(size)
const mixedCase: Text = (size) => 'aA'.repeat(size / 2)
const accents: Text = (size) => 'aAé'.repeat(size / 3)
const beyond: Text = (size) => '😀a'.repeat(size / 3)
const commas: Text = (size) => 'a,'.repeat(size / 2)
const lines: Text = (size) => 'some words on a line of a text\n'.repeat(size / 31)
const escapes: Text = (size) => '%41'.repeat(size / 3)
const quotes: Text = (size) => '"\\\n'.repeat(size / 3)
const pairs: Text = (size) => 'a=b&'.repeat(size / 4)
const onePair: Text = (size) => Array.from({ length: size / 8 }, (_, i) => `${i.toString(36)}=v`).join('&')
const base64: Text = (size) => 'QUJD'.repeat(size / 4)
/** Deterministic noise of two letters, which creates many states of an automaton. */
const noise: Text = (size) => {
  let state = 1
  let text = ''
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    text += state & 0x10000 ? 'a' : 'b'
  }
  return text
}

const listOf =
  (element: (i: number) => string): Text =>
  (size) => {
    const parts: string[] = []
    for (let length = 0; length < size - 2; length += parts[parts.length - 1]!.length + 1)
      parts.push(element(parts.length))
    return `[${parts.join(',')}]`
  }
const objectOf =
  (member: (i: number) => string): Text =>
  (size) =>
    `{${listOf(member)(size).slice(1, -1)}}`

const ints = listOf((i) => String(i % 10))
const zeros = listOf(() => '0')
const floats = listOf(() => '1.5')
const exactFloats = listOf(() => '1.0')
const exactObjects = listOf(() => '{"a":1.0}')
const emptyLists = listOf(() => '[]')
const emptyObjects = listOf(() => '{}')
const smallObjects = listOf(() => '{"a":1}')
const oddObjects = listOf((i) => `{"k${i.toString(36)}":1}`)
const shortTexts = listOf(() => '"a"')
const manyTexts = listOf((i) => `"${i.toString(36)}"`)
const longTexts = listOf(() => `"${'word '.repeat(200)}"`)
const escapedTexts = listOf(() => '"\\u0001\\n\\n\\n"')
const messages = listOf(() => '{"role":"user","content":"how are you doing today, I hope that all is well with you"}')
const members = objectOf((i) => `"k${i.toString(36)}":1`)
const indexes = objectOf((i) => `"${i * 7919}":1`)
const nested: Text = (size) => '['.repeat(Math.min(size / 2, 900)) + ']'.repeat(Math.min(size / 2, 900))
const nestedLists = listOf(() => '[[1],[2,3]]')

function on(text: Text, name: string, expressions: readonly string[]): WeightCase[] {
  return expressions.map((expression) => ({ name: `${expression.slice(0, 60)} ${name}`, expression, text }))
}

/** Each body inside a loop. */
function turns(bodies: readonly string[]): WeightCase[] {
  return bodies.map((body) => ({ name: `turn: ${body}`, expression: `d.map(x, ${body}).size()`, text: zeros }))
}

export const WEIGHT_CASES: readonly WeightCase[] = [
  // JSON.
  ...[
    {
      ints,
      floats,
      exactFloats,
      exactObjects,
      emptyLists,
      emptyObjects,
      smallObjects,
      oddObjects,
      shortTexts,
      manyTexts,
    },
    { longTexts, escapedTexts, messages, members, indexes, nested, nestedLists },
  ].flatMap((texts) =>
    Object.entries(texts).flatMap(([name, text]) =>
      on(text, name, [
        'json(b) == null',
        'json(t) == null',
        'jsonField(b, "a") == null',
        'json(b) == json(t)',
        'toJson(json(b))',
      ]),
    ),
  ),
  ...on(ints, 'ints', ['"%s".format([json(b)])', 'json(b).all(x, x >= 0)', 'json(b).map(x, json(b)[0])']),
  ...on(members, 'members', [
    '"%s".format([json(b)])',
    'json(b).all(k, k != "")',
    'json(b).merge(json(b))',
    'json(b).transformMap(k, v, v)',
  ]),
  ...on(members, 'members', [
    'form.encode(json(b))',
    'json(b).map(k, json(b)[k])',
    'json(b).transformMapEntry(k, v, {k + "x": v})',
  ]),
  // Texts.
  ...Object.entries({
    ascii,
    spaces,
    mixedCase,
    accents,
    beyond,
    commas,
    lines,
    escapes,
    quotes,
    pairs,
    onePair,
    base64,
  }).flatMap(([name, text]) =>
    on(text, name, [
      'size(t)',
      't.contains("aaaaab")',
      't.charAt(5)',
      't.indexOf("zz")',
      't.lastIndexOf("zz")',
      't.substring(5)',
      't.lowerAscii()',
      't.upperAscii()',
      't.trim()',
      't.reverse()',
      't.split("")',
      't.split(",")',
      't.replace("a", "bb")',
      't.replace("", "b")',
      'strings.quote(t)',
      '"%s %x".format([t, t])',
      'bytes(t)',
      'string(b)',
      't == t + ""',
      't < t + "a"',
      'b == bytes(t)',
      't in {"a": 1}',
      't + t + t',
      'base64.encode(b)',
      'base64.decode(t)',
      'url.encode(t)',
      'url.decode(t)',
      'form.decode(t)',
      'md5.encode(b)',
      'sha1.encode(b)',
      'sha256.encode(b)',
      'unvalidatedJwtPayload(t)',
      'double(t)',
      'timestamp(t)',
      'isIP(t)',
      'isCIDR(t)',
    ]),
  ),
  // Patterns.
  ...Object.entries({ ascii, noise, accents, beyond, lines }).flatMap(([name, text]) =>
    on(text, name, [
      't.matches("abc")',
      't.matches("^[a-z]+$")',
      't.matches("(?i)(admin|root|user)[xy]")',
      't.matches("(a|aa)+$")',
      't.matches("(?:a|b)*a(?:a|b){14}[xc]")',
      't.matches(".*a.{20}[xy]")',
      't.matches("([ab]{1,100}){1,10}$")',
      't.matches("(a{0,50}){0,20}[bc]$")',
      't.matches("[\\\\p{L}]+[0-9]")',
      't.regexReplace("(x+x+)+y|a$", "b")',
      't.regexReplace("(.*)(.*)(.*)b$", "$1")',
      't.matches("a" + t.substring(0, 20))',
    ]),
  ),
  // Lists.
  ...Object.entries({ ints, shortTexts, manyTexts, smallObjects, oddObjects, nestedLists, longTexts }).flatMap(
    ([name, text]) =>
      on(text, name, [
        'd.sort()',
        'd.sortBy(x, toJson(x))',
        'd.distinct()',
        'd.flatten(3)',
        'd.reverse()',
        'd.slice(0, 5)',
        'd == d',
        '"zz" in d',
        'd + d',
        'd.map(x, x)',
        'd.filter(x, x == "zz")',
        'd.exists(x, x in d)',
        'd.map(x, d.size())',
        'd.map(x, d.map(y, 1).size())',
        'd.map(x, string(b))',
        'd.map(x, t + "x")',
        'd.map(x, t == t + "")',
        'd.map(x, t.contains("zzz"))',
        'd.map(x, {"a": x, "b": [x, x]})',
        'sets.contains(d, d)',
        'sets.intersects(d, [t])',
        'optional.of(d).value() == d',
        'toJson(d)',
        '"%s".format([d])',
        'd.join(",")',
      ]),
  ),
  ...turns([
    'x',
    'x + 1',
    'x == 1 || x == 2 || x == 3 || x == 4',
    '9007199254740993 * x',
    '1.5 * double(x)',
    '1u + uint(x)',
    '[x, x, x]',
    '{"a": x}',
    'string(x)',
    'string(x) + "a"',
    'int("12")',
    'double("1.5") > double(x)',
    'timestamp("2026-01-01T00:00:00Z") + duration(x)',
    'duration(string(x) + "s")',
    'timestamp(x).getHours("Europe/Paris")',
    'timestamp(x).getDayOfYear()',
    'string(timestamp(x))',
    '"%d %s %.3f".format([x, "a", 1.5])',
    '"%x".format([x])',
    'uuid()',
    'random()',
    'ip("10.0.0." + string(x)).family()',
    'string(ip("2001:db8::" + string(x)))',
    'cidr("10.0.0.0/8").containsIP("10.0.0." + string(x))',
    'isCIDR("10.0.0.0/" + string(x))',
    'md5.encode(string(x))',
    'sha1.encode(string(x))',
    'sha256.encode(string(x))',
    'base64.encode(string(x))',
    'base64.decode("QUJD" + (x > 3 ? "" : "QUJD"))',
    'url.encode(string(x) + " ")',
    'url.decode(string(x) + "%20")',
    'form.decode("a=" + string(x))',
    'form.encode({"a": x})',
    'json(string(x))',
    'json("{\\"a\\":" + string(x) + "}").a',
    'jsonField("{\\"a\\":" + string(x) + "}", "a")',
    'toJson({"a": x})',
    'string(x).matches("^[0-9]+$")',
    'string(x).matches("(?:a|b)*a(?:a|b){14}[xc]")',
    'string(x).matches("a" + string(x))',
    'string(x).regexReplace("[0-9]", "a")',
    'string(x).regexReplace("(0)(.?)", "$2$1")',
    '("ab" + string(x)).replace("a", "b")',
    '("a,b," + string(x)).split(",")',
    '("ab" + string(x)).charAt(1)',
    '("ab" + string(x)).indexOf("b")',
    '("ab" + string(x)).substring(1, 2)',
    '("ab" + string(x)).trim().upperAscii()',
    '("ab" + string(x)).reverse()',
    'strings.quote(string(x))',
    '[x, 1, 2].sort()',
    '[x, 1, 2].distinct()',
    '[[x], [1]].flatten()',
    'sets.contains([x, 1, 2], [1])',
    'math.greatest([x, 1, 2])',
    'math.bitAnd(x, 7) + math.bitShiftLeft(x, 3)',
    '[x].exists(y, y == 1)',
    '[x].map(y, [y].map(z, z))',
    '{"a": x}.all(k, v, v == 1)',
    '{"a": x}.merge({"b": x})',
    'optional.of(x).orValue(1)',
    'cel.bind(y, x + 1, y * 2)',
    'x < 5 ? "a" : "b"',
    'default({"a": x}.a, 1)',
    'coalesce(x, 1)',
    'b.size()',
    't.size()',
    'd.size()',
    'd[0]',
    'type(x) == int',
  ]),
]
