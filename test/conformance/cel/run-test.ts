import type { Decl } from '@bufbuild/cel-spec/cel/expr/checked_pb.js'
import type { SimpleTest } from '@bufbuild/cel-spec/cel/expr/conformance/test/simple_pb.js'
import { equals } from '#cel/equality.ts'
import {
  CelError,
  type Compiled,
  compile,
  createEnvironment,
  Double,
  type Environment,
  formatType,
  HostObject,
  MapValue,
  Optional,
  type Overload,
  type Result,
  toJson,
  typeNameOf,
  type Value,
} from '#cel/index.ts'
import type { Type } from '#cel/type.ts'
import type { Conversion } from './field-value.ts'
import { createMessageTypes, MESSAGE_FUNCTIONS } from './message-types.ts'
import { readTestType } from './test-types.ts'
import { readTestValue } from './test-values.ts'

type Bindings = ReadonlyMap<string, Result>

/** Runs one test of the conformance data. @returns what is wrong, or undefined when it passes */
export function runTest(
  test: SimpleTest,
  referenceType: string | undefined,
  conversion: Conversion,
): string | undefined {
  const { program, problems } = compileTest(test, conversion)
  if (program === undefined) return `does not parse: ${problems.map((problem) => problem.message).join('; ')}`
  // A constant pattern that is no regular expression is refused ahead of evaluation; for the tests it fails there.
  const refusals = problems.filter((problem) => problem.severity === 'error' && problem.code !== 'invalid-pattern')
  if (!test.disableCheck && refusals.length > 0)
    return `does not check: ${refusals.map((problem) => problem.message).join('; ')}`
  const typeProblem = test.disableCheck ? undefined : checkType(test, formatType(program.type), referenceType)
  if (typeProblem !== undefined || test.checkOnly) return typeProblem
  return checkResult(test, program.evaluate(bindingsOf(test, conversion)), conversion)
}

function compileTest(test: SimpleTest, conversion: Conversion): Compiled<Bindings> {
  return compile(test.expr, environmentOf(test, conversion), { lenient: true })
}

function environmentOf(test: SimpleTest, conversion: Conversion): Environment<Bindings> {
  const declared = new Map<string, Type>()
  for (const decl of test.typeEnv) {
    if (decl.declKind.case === 'ident') declared.set(decl.name, readTestType(decl.declKind.value.type!))
  }
  if (test.disableCheck) {
    for (const name of Object.keys(test.bindings)) if (!declared.has(name)) declared.set(name, { kind: 'dyn' })
  }
  return createEnvironment<Bindings>({
    variables: [...declared].map(([path, type]) => ({ path, type, read: (bindings) => bindings.get(path) })),
    functions: [...MESSAGE_FUNCTIONS, ...test.typeEnv.flatMap(readFunctions)],
    provider: createMessageTypes(conversion),
    container: test.container,
  })
}

/** Functions of the type environment: declared for checking only. */
function readFunctions({ name, declKind }: Decl): Overload[] {
  if (declKind.case !== 'function') return []
  return declKind.value.overloads.map((overload) => ({
    signature: overload.overloadId,
    name,
    isMember: overload.isInstanceFunction,
    params: overload.params.map(readTestType),
    variadic: false,
    result: readTestType(overload.resultType!),
    call: () => new CelError('no-such-overload', 'unbound function'),
    callInContext: undefined,
    pure: false,
    fallback: false,
    prepare: undefined,
  }))
}

function bindingsOf(test: SimpleTest, conversion: Conversion): Bindings {
  const bindings = new Map<string, Result>()
  for (const [name, { kind }] of Object.entries(test.bindings)) {
    if (kind.case === 'value') bindings.set(name, readTestValue(kind.value, conversion))
  }
  return bindings
}

function checkType(test: SimpleTest, found: string, referenceType: string | undefined): string | undefined {
  const { resultMatcher } = test
  const deduced = resultMatcher.case === 'typedResult' ? resultMatcher.value.deducedType : undefined
  const expected = deduced === undefined ? referenceType : formatType(readTestType(deduced))
  return expected === undefined || expected === found ? undefined : `type is ${found}, expected ${expected}`
}

function checkResult(test: SimpleTest, result: Result, conversion: Conversion): string | undefined {
  const { resultMatcher } = test
  switch (resultMatcher.case) {
    case 'evalError':
    case 'anyEvalErrors':
      return result instanceof CelError ? undefined : `result is ${show(result)}, expected an error`
    case 'value':
      return compareResult(result, readTestValue(resultMatcher.value, conversion))
    case 'typedResult':
      return compareResult(result, readTestValue(resultMatcher.value.result!, conversion))
    case undefined:
      return compareResult(result, true)
    default:
      return `tests of ${resultMatcher.case} are not supported`
  }
}

function compareResult(result: Result, expected: Value): string | undefined {
  if (!(result instanceof CelError) && isSame(result, expected)) return undefined
  return `result is ${show(result)}, expected ${show(expected)}`
}

/** Stricter than CEL equality: types must agree; NaN is NaN. */
function isSame(a: Value, b: Value): boolean {
  if (typeNameOf(a) !== typeNameOf(b)) return false
  if (a instanceof Double && b instanceof Double)
    return a.value === b.value || (Number.isNaN(a.value) && Number.isNaN(b.value))
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, i) => isSame(element, b[i]))
  if (a instanceof MapValue && b instanceof MapValue)
    return a.size === b.size && [...a.keys()].every((key) => isSameEntry(a, b, key))
  return equals(a, b)
}

function isSameEntry(a: MapValue, b: MapValue, key: Value): boolean {
  const [x, y] = [a.get(key), b.get(key)]
  if (x === undefined || y === undefined || x instanceof CelError || y instanceof CelError) return false
  return isSame(x, y)
}

function show(result: Result): string {
  if (result instanceof CelError) return `error "${result.message}"`
  if (result instanceof HostObject || result instanceof Optional) return typeNameOf(result)
  return `${typeNameOf(result)} ${JSON.stringify(toJson(result))}`
}
