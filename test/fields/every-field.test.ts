import { expect, test } from 'vitest'
import type { ConfigProblem } from '#base/config-problem.ts'
import { validate } from '#schema/index.ts'
import { admitObject } from '#test/support/admit-object.ts'
import { badValue, FREE } from './bad-values.ts'
import { allLeaves, type Leaf, MAP_KEY, type Step } from './leaves.ts'
import { type Members, replaced, subjectWith } from './variants.ts'
import { World } from './world.ts'

/** `spec.rules[0].matches[0].path.value` */
function pathOf(steps: readonly Step[]): string {
  const parts = steps.map((step) => (step === 0 ? '[0]' : step === MAP_KEY ? `[${MAP_KEY}]` : `.${step}`))
  return parts.join('').slice(1)
}

/** Whether a problem is about the field: at it, below it, or at a part of the object that contains it. */
function isAbout({ path, code }: ConfigProblem, field: string): boolean {
  if (path === field || isBelow(path, field)) return true
  return isBelow(field, path) && (path !== 'spec' || code === 'not-implemented')
}

function isBelow(path: string, above: string): boolean {
  return above !== '' && (path.startsWith(`${above}.`) || path.startsWith(`${above}[`))
}

/** What makes every value of a field useless is said about the valid value, too. */
const USELESS = new Set(['not-implemented', 'guard-not-runnable', 'parameters-only-on-kubernetes', 'filter-value'])

/** What a gateway says about the field of an object. */
function problemsOf(world: World, object: Members, { kind, steps }: Leaf): readonly ConfigProblem[] {
  const { problems, tolerated } = validate(kind.schema, object)
  const all = problems.length > 0 ? problems : [...tolerated, ...world.findingsOn(admitObject(object))]
  return all.filter((problem) => isAbout(problem, pathOf(steps)))
}

const LEAVES = allLeaves()
const tested = LEAVES.filter(({ title }) => !FREE.some(([pattern]) => pattern.test(title)))

test('every field of every kind: a value that cannot work is reported, with the path of the field', () => {
  const world = new World()
  const silent = tested.filter((leaf) => {
    const valid = subjectWith(leaf)
    expect(validate(leaf.kind.schema, valid).problems, leaf.title).toEqual([])
    const before = new Set(problemsOf(world, valid, leaf).map(textOf))
    const bad = badValue(leaf.title, leaf.node)
    expect(bad, `${leaf.title} has no bad value; add one, or say why every value works`).toBeDefined()
    const after = problemsOf(world, replaced(valid, leaf.steps, bad) as Members, leaf)
    return !after.some((problem) => USELESS.has(problem.code) || !before.has(textOf(problem)))
  })
  expect(silent.map(({ title }) => title)).toEqual([])
})

function textOf({ path, code, message }: ConfigProblem): string {
  return `${path} ${code} ${message}`
}

test('the table of free fields has no entry too many', () => {
  for (const [pattern] of FREE)
    expect(
      LEAVES.some(({ title }) => pattern.test(title)),
      String(pattern),
    ).toBe(true)
  expect(tested.length).toBeGreaterThan(1500)
})

const GATEWAY_API = 'gateway.networking.k8s.io'
test('names in references of Gateway API kinds have no pattern: any text is stored, and not found', () => {
  const world = new World()
  const names = LEAVES.filter(
    ({ kind, title }) => kind.group === GATEWAY_API && /(Refs?(\[\])?\.name|gatewayClassName)$/.test(title),
  )
  expect(names.length).toBeGreaterThan(20)
  for (const leaf of names) {
    for (const name of ['*', 'Not A Name', 'a/b', 'x|y']) {
      const object = replaced(subjectWith(leaf), leaf.steps, name) as Members
      expect(validate(leaf.kind.schema, object).problems, leaf.title).toEqual([])
      expect(problemsOf(world, object, leaf), `${leaf.title}: ${name}`).not.toEqual([])
    }
  }
})
