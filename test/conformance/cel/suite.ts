import { getTestRegistry } from '@bufbuild/cel-spec/testdata/registry.js'
import {
  getCheckingSuite,
  getComprehensionSuite,
  getConformanceSuite,
  getParsingSuite,
  type IncrementalTest,
  type IncrementalTestSuite,
} from '@bufbuild/cel-spec/testdata/tests.js'
import { compile, createEnvironment, parse, typeNameOf } from '#cel/index.ts'
import type { Conversion } from './field-value.ts'
import { runTest } from './run-test.ts'

export interface Outcome {
  /** The file of the data the test is from. */
  readonly file: string
  readonly name: string
  readonly expr: string
  /** What is wrong; undefined when the test passes. */
  readonly failure: string | undefined
}

/** Files whose tests are about protobuf messages, enums and wrappers. */
export const PROTOBUF_FILES: ReadonlySet<string> = new Set([
  'dynamic',
  'enums',
  'proto2',
  'proto2_ext',
  'proto3',
  'wrappers',
])

/** Runs every test of the official data. */
export function runAll(): Outcome[] {
  const registry = getTestRegistry()
  const outcomes: Outcome[] = []
  for (const file of getConformanceSuite().suites) {
    for (const { test, section } of testsIn(file)) {
      const conversion: Conversion = { registry, strongEnums: section.startsWith('strong_') }
      const type = isTypeComparable(file.name, section) ? test.type : undefined
      outcomes.push(outcomeOf(file.name, section, test, runTest(test.original, type, conversion)))
    }
  }
  for (const suite of [getParsingSuite(), getCheckingSuite()]) {
    for (const { test } of testsIn(suite)) outcomes.push(outcomeOf(suite.name, '', test, runParseTest(test)))
  }
  const comprehensions = getComprehensionSuite()
  for (const { test } of testsIn(comprehensions))
    outcomes.push(outcomeOf(comprehensions.name, '', test, runMacroTest(test)))
  return outcomes
}

/**
 * The data was made by a build without typed blocks and with enums as ints: for those two its types say nothing.
 * A type that a test itself states is compared always.
 */
function isTypeComparable(file: string, section: string): boolean {
  return file !== 'block_ext' && !section.startsWith('strong_')
}

function outcomeOf(file: string, section: string, test: IncrementalTest, failure: string | undefined): Outcome {
  return { file, name: section === '' ? test.name : `${section}/${test.name}`, expr: test.original.expr, failure }
}

function* testsIn(suite: IncrementalTestSuite, section = ''): Iterable<{ test: IncrementalTest; section: string }> {
  for (const test of suite.tests) yield { test, section }
  for (const inner of suite.suites) yield* testsIn(inner, inner.name)
}

/** Refusals of a reference build that had these features switched off, or limits of its own: no example for us. */
const OWN_LIMIT = /unsupported syntax|recursion/

/** Data without results: an expression parses exactly when the reference gives a tree for it. */
function runParseTest(test: IncrementalTest): string | undefined {
  const { expr, problems } = parse(test.original.expr)
  if (test.ast !== undefined && expr === undefined)
    return `does not parse: ${problems.map((problem) => problem.message).join('; ')}`
  if (test.ast !== undefined || expr === undefined || OWN_LIMIT.test(test.error ?? '')) return undefined
  return `parses, expected: ${test.error?.split('\n')[0] ?? 'an error'}`
}

/**
 * Two-variable macros, from data of a build without them: expressions that are asserted to be true, and others that
 * misuse a macro. What is accepted and is a condition must be true.
 */
function runMacroTest(test: IncrementalTest): string | undefined {
  const { program } = compile(test.original.expr, createEnvironment({}), { expect: 'bool' })
  const result = program?.evaluate(undefined)
  return program === undefined || result === true ? undefined : `is not true but ${typeNameOf(result)}`
}
