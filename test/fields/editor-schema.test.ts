import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Schema from 'typebox/schema'
import { expect, test } from 'vitest'
import { findKind } from '#api/kinds.ts'
import type { FindingCode } from '#base/findings.ts'
import { validate } from '#schema/index.ts'
import { allLeaves } from './leaves.ts'
import { variantsOf } from './variants.ts'

const FILE = join(import.meta.dirname, '../../install/schemas/gatewright.schema.json')

/** What a schema of an editor can say. */
const OF_THE_SCHEMA: readonly FindingCode[] = [
  'required',
  'unknown-field',
  'wrong-type',
  'unknown-value',
  'out-of-range',
]

/** Rules over several fields, and roles in any case: only the gateway reports them. */
const OF_RULES = /[rR]ef\.port$|\.role$/

test('an editor accepts what the gateway accepts, and marks what it refuses for its form', () => {
  const editor = Schema.Compile(JSON.parse(readFileSync(FILE, 'utf8')))
  const leaves = allLeaves().filter(({ kind }) => kind.own)
  // Every seventh field: the fields of backend policies occur in many places.
  const variants = leaves.filter((_, index) => index % 7 === 0).flatMap((leaf) => [...variantsOf(leaf)])
  const stricter: string[] = []
  const laxer: string[] = []
  for (const { title, object } of variants) {
    const { problems } = validate(findKind(object.kind as string)!.schema, object, { fromFile: true })
    const isAccepted = editor.Check(object)
    if (problems.length === 0 && !isAccepted) stricter.push(title)
    const missed = problems.find(({ code, path }) => OF_THE_SCHEMA.includes(code) && !OF_RULES.test(path))
    if (isAccepted && missed !== undefined) laxer.push(`${title}: ${missed.message}`)
  }
  expect(variants.length).toBeGreaterThan(1000)
  expect(stricter).toEqual([])
  expect(laxer).toEqual([])
})
