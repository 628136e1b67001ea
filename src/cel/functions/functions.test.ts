import { expect, test } from 'vitest'
import { CelError, compile, createEnvironment, toJson } from '../index.ts'

const environment = createEnvironment<null>({})

/** The result as JSON, or the code of an error. */
function evaluate(source: string): unknown {
  const { program, problems } = compile(source, environment, { lenient: true })
  if (program === undefined) return problems.map((problem) => problem.message)
  const result = program.evaluate(null)
  return result instanceof CelError ? result.code : toJson(result)
}

/** A token with payload {"sub":"ann"} and no valid signature. */
const TOKEN = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.x'

test.each([
  // JSON
  ['json("[1,2]")[1]', 2],
  ['json(\'{"a": {"b": 1.0}}\').a.b == 1.0', true],
  ['type(json("1")) == int && type(json("1.0")) == double && type(json("1e2")) == double', true],
  ['type(json("[-1.0 ,2]")[0]) == double && type(json("{\\"a\\":1.00}").a) == double', true],
  ['json("9007199254740993") == 9007199254740993', true],
  ['json("123456789012345678901234567890")', '123456789012345678901234567890'],
  ['json("123456789012345678901234567890") > 1e29', true],
  ['type(json("1.0")) == double && json("1.0") == 1.0 && type(json("-0")) == int && json("-0") == 0', true],
  ['toJson(json("[1.0,-0.0,1e400,18446744073709551616,1E2]"))', '[1.0,-0.0,1e400,18446744073709551616,1E2]'],
  ['toJson(json("{\\"a\\":-0}"))', '{"a":-0}'],
  ['toJson({"a": [json("9007199254740993"), json("1.0") + 1.0]})', '{"a":[9007199254740993,2]}'],
  ['json(b"true")', true],
  ['json("{")', 'invalid'],
  ['json(b"\\xff")', 'invalid'],
  ['jsonField(\'{"x": {"m": 1}, "m": "g"}\', "m")', 'g'],
  ['jsonField(\'{"a": "\\\\"}", "m": [1, {"m": 2}], "b": null}\', "m")', [1, { m: 2 }]],
  ['jsonField(\'{"m": 1, "m": 2}\', "m")', 2],
  ['jsonField(\'{"\\\\u006d": 1}\', "m")', 1],
  ['jsonField(b\'{"m": 1}\', "m")', 1],
  ['jsonField("{}", "m")', 'no-such-key'],
  ['jsonField("[]", "m")', 'invalid'],
  ['jsonField(\'{"m": }\', "m")', 'invalid'],
  ['jsonField(\'{"m": x}\', "m")', 'invalid'],
  ['jsonField(\'{"a": [1, "m": 1}\', "m")', 'invalid'],
  [
    'toJson({"a": 1, "b": [1.5, 2u, null, b"hi", duration("1.5s"), timestamp(0)]})',
    '{"a":1,"b":[1.5,2,null,"aGk=","1.5s","1970-01-01T00:00:00Z"]}',
  ],
  [
    'toJson(json("{\\"id\\": 12345678901234567890, \\"n\\": [1.50, 9007199254740993, -1e400]}"))',
    '{"id":12345678901234567890,"n":[1.50,9007199254740993,-1e400]}',
  ],
  ['to_json({1: true, false: "x"})', '{"1":true,"false":"x"}'],
  ['toJson([optional.none(), optional.of(1), type(1), ip("::1"), double("NaN")])', '[null,1,"int","::1","NaN"]'],
  [`unvalidatedJwtPayload("${TOKEN}").sub`, 'ann'],
  ['unvalidatedJwtPayload("a.b")', 'invalid'],
  ['unvalidatedJwtPayload("a.!.c")', 'invalid'],
  ['unvalidatedJwtPayload("a.MQ.c")', 'invalid'],

  // Binding, maps
  ['(2 + 3).with(n, n * n)', 25],
  ['{"a": 1}.mapValues(v, v + 1)', { a: 2 }],
  ['{"a": 1, "b": 2}.filterKeys(k, k != "b")', { a: 1 }],
  ['{"a": 1}.filterKeys(k, dyn(k))', 'no-such-overload'],
  ['{"a": 1, "b": 1}.merge({"b": 2, "c": 3})', { a: 1, b: 2, c: 3 }],
  ['{"a": 1}.merge({"b": "x"})', { a: 1, b: 'x' }],
  ['[3, 1, 2].sortBy(x, -x)', [3, 2, 1]],
  ['["b", "a"].sort()', ['a', 'b']],
  ['[1, "a"].sort()', 'no-such-overload'],
  ['[[1, 2], [3]].flatten()', [1, 2, 3]],
  ['[1].flatten()', [1]],
  ['[1, [2, [3]]].flatten()', [1, 2, [3]]],
  ['[1, [2, [3]]].flatten(2)', [1, 2, 3]],
  ['[1, [2]].flatten(-1)', 'invalid'],
  ['[1, 1u, 1.0, 2, "a", "a"].distinct()', [1, 2, 'a']],
  ['[[1], [1.0], [double("NaN")], [double("NaN")]].distinct().size()', 3],
  ['[{"a": 1}, {"a": 1}, {"a": 2}].distinct()', [{ a: 1 }, { a: 2 }]],
  ['[[{"a": 1}], [{"a": 1}]].distinct().size()', 1],
  ['[1, 2, 3].slice(1, 3)', [2, 3]],
  ['[1].slice(1, 3)', 'range'],
  ['[1, 2].reverse() + lists.range(2)', [2, 1, 0, 1]],
  ['[1, 2].first().value() + [3, 4].last().value()', 5],
  ['[].first().hasValue()', false],
  ['sets.contains([1, 2, "a"], [1.0])', true],
  ['sets.equivalent([1, 2], [2, 1, 1])', true],
  ['sets.intersects([1], [2])', false],

  // Sizes
  ['[size({"a": 1}), {"a": 1}.size(), size([1, 2]), [1, 2].size()]', [1, 1, 2, 2]],
  ['[size("a😀"), "a😀".size(), size(b"abc"), b"abc".size()]', [2, 2, 3, 3]],

  // Explicit failures
  ['fail("no")', 'failed'],
  ['fail("no") || true', true],

  // Text
  ['"a1b2".regexReplace("[0-9]", "#")', 'a#b2'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the replacement's own syntax
  ['"ann@x.org".regexReplace("(?P<user>\\\\w+)@(.+)", "${2}:$user $$1 $9")', 'x.org:ann $1 '],
  ['"abc".regexReplace("z", "y")', 'abc'],
  ['"abc".regexReplace("(", "y")', 'invalid'],
  ['"abc".matches("^a.c$") && !matches("abc", "b$")', true],
  ['"abc".matches(dyn("["))', 'invalid'],
  ['"/api/x".stripPrefix("/api") + "a.json".stripSuffix(".json") + "b".stripSuffix("c")', '/xab'],
  ['"a😀b".charAt(1) + "a😀b".substring(2)', '😀b'],
  ['"a😀b".size() + "a😀b".indexOf("b") + "a😀b".lastIndexOf("😀")', 6],
  ['"a😀b".indexOf("b", 3)', -1],
  ['[["abc".indexOf("c", 3), "abc".lastIndexOf("a", 3), "abc".lastIndexOf("b", 0)]]', [[-1, 0, -1]]],
  ['"abc".indexOf("a", 4)', 'range'],
  ['"abc".indexOf("a", -1)', 'range'],
  ['"abc".lastIndexOf("a", 4)', 'range'],
  ['"abc".lastIndexOf("a", -1)', 'range'],
  ['"abc".substring(2, 1)', 'range'],
  ['"abc".charAt(4)', 'range'],
  ['"abc".charAt(9223372036854775807)', 'range'],
  ['"a,b,c".split(",", 2)', ['a', 'b,c']],
  ['"ab".split("")', ['a', 'b']],
  ['"abab".replace("a", "x", 1) + "ab".replace("", "-")', 'xbab-a-b-'],
  ['"".replace("", "-") + "a😀b".replace("", "-", 2)', '--a-😀b'],
  ['"  x\\u00a0".trim()', 'x'],
  ['"ÀbC".lowerAscii() + "àBc".upperAscii()', 'ÀbcàBC'],
  ['"a😀".reverse()', '😀a'],
  ['["a", "b"].join("-")', 'a-b'],
  ['dyn(["a", 1]).join()', 'no-such-overload'],
  ['strings.quote("a\\n\\"\\u0001")', '"a\\n\\"\u0001"'],

  ['"%.0f %.0f %.2f %.2f %.1f".format([0.5, 1.5, 0.125, 0.375, 0.25])', '0 2 0.12 0.38 0.2'],
  ['"%.2f %.1f".format([1.005, 0.35])', '1.00 0.3'],
  ['"%.101f %.101f %e".format([double("NaN"), -double("Infinity"), double("Infinity")])', 'NaN -Infinity Infinity'],
  ['"%s".format([b"\\xef\\xbb\\xbfa"])', '\ufeffa'],

  // Encodings
  ['string(base64.decode("aGk"))', 'hi'],
  ['base64Encode("hi") + base64.encode(b"hi")', 'aGk=aGk='],
  ['base64.decode("*")', 'invalid'],
  ['url.encode("a b/ü*~!")', 'a%20b%2F%C3%BC%2A~%21'],
  ['url.decode("a%20b+%C3%BC%2")', 'a b+ü%2'],
  ['url.decode("%ff")', 'invalid'],
  ['form.encode({"b": "x y", "a": "1", "n": null, "l": ["p", 2, true]})', 'a=1&b=x+y&l=p&l=2&l=true'],
  ['form.encode({"a": {"b": 1}})', 'no-such-overload'],
  ['form.decode("a=1+2&b=%26&a=3&c&&=d")', { a: ['1 2', '3'], b: '&', c: '', '': 'd' }],
  ['form.decode("a=%ff")', 'invalid'],

  // Networks
  ['cidr("10.0.0.0/8").containsIP("10.1.2.3")', true],
  ['cidr("10.0.0.0/8").containsIP(ip("11.1.2.3"))', false],
  ['cidr("10.0.0.0/8").containsIP("::1")', false],
  ['cidr("2001:db8::/33").containsIP("2001:db8:7fff::1")', true],
  ['cidr("2001:db8::/33").containsIP("2001:db8:8000::1")', false],
  ['cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")', true],
  ['cidr("10.1.0.0/16").containsCIDR(cidr("10.0.0.0/8"))', false],
  ['string(cidr("10.1.2.3/20").masked()) + " " + string(cidr("10.1.2.3/20").ip())', '10.1.0.0/20 10.1.2.3'],
  ['cidr("10.1.2.3/20").prefixLength()', 20],
  ['cidr("0.0.0.0/0").containsIP("1.2.3.4")', true],
  [
    '[isIP("1.2.3.4"), isIP("01.2.3.4"), isIP("1.2.3"), isIP("1.2.3.256"), isIP("::ffff:1.2.3.4"), isIP("fe80::1%eth0")]',
    [true, false, false, false, false, false],
  ],
  [
    '[isIP("1:2:3:4:5:6:7:8"), isIP("1:2:3:4:5:6:7"), isIP("1::2::3"), isIP("1:2:3:4:5:6:7::8"), isIP("::"), isIP("12345::")]',
    [true, false, false, false, true, false],
  ],
  [
    '[isCIDR("10.0.0.0/8"), isCIDR("10.0.0.0/33"), isCIDR("10.0.0.0/08"), isCIDR("::/128"), isCIDR("x")]',
    [true, false, false, true, false],
  ],
  ['ip("10.0.0.256")', 'invalid'],
  ['string(ip("2001:DB8:0:0:1:0:0:1"))', '2001:db8::1:0:0:1'],
  ['[ip.isCanonical("::1"), ip.isCanonical("0:0::1")]', [true, false]],
  ['[ip("127.0.0.1").isLoopback(), ip("::1").isLoopback(), ip("0.0.0.0").isUnspecified()]', [true, true, true]],
  [
    '[ip("169.254.1.1").isLinkLocalUnicast(), ip("fe80::1").isLinkLocalUnicast(), ip("224.0.0.1").isLinkLocalMulticast(), ip("ff02::1").isLinkLocalMulticast()]',
    [true, true, true, true],
  ],
  [
    '[ip("8.8.8.8").isGlobalUnicast(), ip("255.255.255.255").isGlobalUnicast(), ip("ff05::1").isGlobalUnicast()]',
    [true, false, false],
  ],
  ['ip("1.2.3.4").family() + ip("::").family()', 10],
  ['[ip("1.2.3.4") == ip("1.2.3.4"), ip("1.2.3.4") == ip("1.2.3.5")]', [true, false]],
  [
    '["1.2.3.4/8", "1.2.3.4/9", "1.2.3.5/8", "::/8"].map(other, cidr("1.2.3.4/8") == cidr(other))',
    [true, false, false, false],
  ],

  // Numbers
  ['max(1, 2.5, 2u) == 2.5 && min([3, 2]) == 2', true],
  ['math.greatest("a", "b")', 'no-such-overload'],
  ['math.greatest(dyn(1), dyn(2u))', 2],
  ['math.sqrt(9) + math.round(-2.5)', 0],
  ['math.round(0.49999999999999994)', 0],
  ['math.bitShiftLeft(1, 64) + math.bitShiftRight(-1, 63)', 1],
  ['math.bitShiftLeft(1, -1)', 'invalid'],
  ['math.abs(-9223372036854775808)', 'range'],
  ['[math.abs(-9223372036854775807), math.abs(9223372036854775807)].distinct().size()', 1],
  ['math.abs(9223372036854775807) == 9223372036854775807', true],
  ['9223372036854775807 + 1', 'range'],
  ['-9223372036854775808 / -1', 'range'],
  ['-(-9223372036854775808)', 'range'],
  ['4503599627370496 * 4 == 18014398509481984', true],
  ['1u - 2u', 'range'],
  ['7 / -2 == -3 && -7 % 3 == -1', true],
  ['5 % 0', 'divide-by-zero'],
  ['1.0 / 0.0 > 1e308', true],
  ['0 * -1 == 0 && string(0 * -1) == "0"', true],
  ['double("NaN") == double("NaN")', false],
  ['cel.bind(x, double("NaN"), x == x || [x] == [x])', false],
  ['{1: "a"}[1u] + {2u: "b"}[2.0]', 'ab'],
  ['{1: "a", 1u: "b"}', 'invalid'],
  ['[1][1]', 'range'],
  ['[1][dyn("a")]', 'no-such-overload'],
  ['[1][1.5]', 'no-such-overload'],

  // Time
  ['duration("1h30m") + duration("1.5s") == duration("5401500ms")', true],
  ['string(duration("-1.5s"))', '-1.5s'],
  ['duration("1")', 'invalid'],
  ['duration("1h").getMinutes() + duration("1.5s").getMilliseconds()', 560],
  ['timestamp("2024-02-29T23:59:59.5+01:00").getHours()', 22],
  ['timestamp("2024-02-30T00:00:00Z")', 'invalid'],
  ['timestamp("2024-00-01T00:00:00Z")', 'invalid'],
  ['timestamp("2024-13-01T00:00:00Z")', 'invalid'],
  ['timestamp("2024-01-00T00:00:00Z")', 'invalid'],
  ['timestamp("2024-01-01T24:00:00Z")', 'invalid'],
  ['timestamp("2024-01-01T00:60:00Z")', 'invalid'],
  ['timestamp("2024-01-01T00:00:60Z")', 'invalid'],
  ['string(timestamp("2024-12-31T23:59:59Z"))', '2024-12-31T23:59:59Z'],
  [
    '[".5s", "5.s", "1.5h", "0", "-0", "1.999999999s", "1h0.5ns"].map(text, string(duration(text)))',
    ['0.5s', '5s', '5400s', '0s', '0s', '1.999999999s', '3600s'],
  ],
  ['duration(".s")', 'invalid'],
  ['timestamp("0050-01-01T00:00:00Z").getFullYear()', 50],
  ['timestamp("2024-07-01T12:00:00Z").getHours("Europe/Berlin")', 14],
  ['timestamp("2024-07-01T12:00:00Z").getHours("Nowhere/Land")', 'invalid'],
  ['timestamp("2024-12-31T00:00:00Z").getDayOfYear()', 365],
  ['string(timestamp("2024-01-01T00:00:00.120Z"))', '2024-01-01T00:00:00.12Z'],

  // Conversions
  ['[int("-5"), int(2.9), int(5u), uint("7") == 7u, double("1e3")]', [-5, 2, 5, true, 1000]],
  [
    '[bool("TRUE"), string(true), string(1.0), string(-0.0), string(b"hi"), bytes("é") == b"\\xc3\\xa9"]',
    [true, 'true', '1', '-0', 'hi', true],
  ],
  ['int("1x")', 'invalid'],
  ['uint(-1)', 'range'],
  ['int(1e30)', 'range'],
  ['int(-9223372036854775808.0)', 'range'],
  ['int(9223372036854775808.0)', 'range'],
  ['[int(-9223372036854774784.0) < -9223372036854774783, int(9223372036854774784.0) > 0]', [true, true]],
  ['int(double("NaN"))', 'range'],
  ['uint(18446744073709551616.0)', 'range'],
  ['uint(18446744073709549568.0) == 18446744073709549568u', true],
  ['uint(-0.5)', 'range'],
  ['uint(double("NaN"))', 'range'],
  ['uint(double("inf"))', 'range'],
  ['bool("yes")', 'invalid'],
  ['string(b"\\xff")', 'invalid'],

  // Optionals
  ['{"a": 1}[?"b"].orValue(2) + {"a": 1}.?a.value()', 3],
  ['optional.none().value()', 'failed'],
  ['optional.of(1).optMap(x, x + 1).optFlatMap(x, optional.of(x * 2)).value()', 4],
  ['[?optional.none(), ?optional.of(1)]', [1]],
  ['optional.unwrap([optional.of(1), optional.none()])', [1]],
  ['optional.ofNonZeroValue(0).hasValue() || optional.ofNonZeroValue("").hasValue()', false],
  ['optional.ofNonZeroValue(b"").hasValue() || !optional.ofNonZeroValue(b"\\x00").hasValue()', false],
])('%s', (source, expected) => {
  expect(evaluate(source)).toEqual(expected)
})

test('random values', () => {
  expect(evaluate('uuid()')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(evaluate('[random(), random()].all(x, x >= 0.0 && x < 1.0)')).toBe(true)
})

test.each([
  ['', false],
  [' + ["x"]', 'limit'],
])('a text may have 16 MiB%s', (more, expected) => {
  const mebibyte = `lists.range(1024).map(i, "${'x'.repeat(1024)}").join()`
  expect(evaluate(`cel.bind(m, ${mebibyte}, (lists.range(16).map(i, m)${more}).join() == "x")`)).toBe(expected)
})

test('a very long or very large pattern is refused', () => {
  expect(evaluate(`"a".matches("${'a'.repeat(5000)}")`)).toBe('limit')
  expect(evaluate('"a".matches("((a{1000}){1000}){1000}")')).toBe('invalid')
})

test('matching takes linear time', () => {
  expect(evaluate(`"${'a'.repeat(5000)}".matches("(a+)+$") && !"${'a'.repeat(5000)}!".matches("(a|aa)+$")`)).toBe(true)
})
