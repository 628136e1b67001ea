import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { KINDS, type KindInfo } from '#api/kinds.ts'
import { causeOf } from '#apiserver/kinds/causes.ts'
import type { Cause, WrittenObject } from '#apiserver/kinds/served-kind.ts'
import { builtInKinds } from '#apiserver/platform-rules/built-in-kinds.ts'
import { nodeOf, type ObjectRule, type SchemaNode, validate } from '#schema/index.ts'
import { type Violation, violationsOf } from '#test/fields/violations.ts'
import { invalidDocuments } from './invalid-document.ts'

/** Lists longer than this show the first causes: an item too many is also an item twice. */
const MAX_SHOWN = 2

/**
 * A text file for each kind: one line for each constraint, with what lint and the API say of an object that violates it.
 * `UPDATE=1 npx vitest run test/invalid` rewrites them; review the difference.
 */
function goldenOf({ kind }: KindInfo): string {
  return join(import.meta.dirname, 'constraints', `${kind}.txt`)
}

function causesOf({ schema }: KindInfo, { object }: Violation): readonly Cause[] {
  return validate(schema, object, { fromFile: true }).problems.map(causeOf)
}

function lineOf(info: KindInfo, violation: Violation): string {
  const { title, path } = violation
  const texts = causesOf(info, violation).map(({ field, message }) => {
    const place = field === path ? '' : field.startsWith(path) ? `${field.slice(path.length)} ` : `${field} `
    return `${place}${message}`
  })
  const more = texts.length > MAX_SHOWN ? ` (and ${texts.length - MAX_SHOWN} more)` : ''
  return `${title} -> ${texts.slice(0, MAX_SHOWN).join('; ')}${more}`
}

/** A copy of a schema that tells which rules refuse something. */
function recording(node: SchemaNode, refuses: (rule: ObjectRule) => void): SchemaNode {
  const { items, additionalProperties, properties, rules } = node
  const copyOf = (inner: SchemaNode) => recording(inner, refuses)
  const recorded = rules?.map((rule) => ({
    ...rule,
    check: (value: never, path: string) => {
      const problems = rule.check(value, path)
      if (problems.length > 0) refuses(rule)
      return problems
    },
  }))
  return {
    ...node,
    ...(items === undefined ? {} : { items: copyOf(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: copyOf(additionalProperties) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, copyOf(field)])) }),
    ...(recorded === undefined ? {} : { rules: recorded }),
  }
}

function* rulesIn({ rules = [], items, additionalProperties, properties = {} }: SchemaNode): Generator<string> {
  yield* rules.map(({ description }) => description)
  for (const inner of [items, additionalProperties, ...Object.values(properties)]) {
    if (inner !== undefined) yield* rulesIn(inner)
  }
}

const OWN = KINDS.filter(({ own }) => own)

test('each rule over several fields has a document that breaks it', () => {
  const broken = new Set<string>()
  const schemas = new Map(
    OWN.map(({ kind, schema }) => [
      kind as string,
      recording(nodeOf(schema), ({ description }) => broken.add(description)),
    ]),
  )
  for (const { name, text } of invalidDocuments()) {
    if (!name.startsWith('proxy-')) continue
    const object = parse(text)
    validate(schemas.get(object.kind) as never, object, { fromFile: true })
  }
  const rules = new Set(OWN.flatMap(({ schema }) => [...rulesIn(nodeOf(schema))]))
  expect([...rules].filter((description) => !broken.has(description))).toEqual([])
})

describe.each(OWN)('$kind', (info) => {
  const violations = [...violationsOf(info)]
  const golden = goldenOf(info)
  if (process.env.UPDATE === '1') {
    writeFileSync(golden, `${violations.map((violation) => lineOf(info, violation)).join('\n')}\n`)
  }

  test('each constraint of each field has its refusal', () => {
    const lines = violations.map((violation) => lineOf(info, violation))
    expect(lines.filter((line) => line.endsWith('-> '))).toEqual([])
    expect(lines).toEqual(readFileSync(golden, 'utf8').trimEnd().split('\n'))
  })

  test('the API has the same causes as lint', () => {
    const served = builtInKinds().find(({ kind }) => kind === info.kind)!
    for (const violation of violations) {
      const { causes } = served.admit(violation.object as unknown as WrittenObject, { unknownFields: 'refuse' })
      expect(causes, violation.title).toEqual(causesOf(info, violation))
    }
  })
})
