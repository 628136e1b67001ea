import { customKinds } from '#apiserver/custom-resources/custom-kind.ts'
import { definitionKind } from '#apiserver/custom-resources/definition-kind.ts'
import type { DefinitionSpec } from '#apiserver/custom-resources/definition-schema.ts'
import type { Cause, WrittenObject } from '#apiserver/kinds/served-kind.ts'
import type { Resource } from '#store/resources/resource.ts'
import type { Transcript } from '../transcript.ts'
import { type DefinitionExample, randomDefinition } from './random-definitions.ts'
import { askReferee, canonical } from './referee.ts'

const EXAMPLES = 3000
/** Added by the handler of API servers, which the referee does not have; and a text that is accepted there, as it has a duration in it. */
const ONLY_HERE = ['some validation rules were not checked', 'must be of type duration: "1b4e28ba']
/** Of a number that is no integer, beside its wrong type. */
const SAID_TWICE = 'Checked value must be of type integer'

interface Verdict {
  readonly errors: readonly string[]
  readonly unknown: readonly string[] | null
  readonly object: object
}

interface Answer {
  readonly errors: readonly string[]
  readonly verdicts: readonly Verdict[] | null
}

/** Compares definitions of users, and objects of their kinds, with the code of Kubernetes: what is refused, dropped, set by default. */
export async function checkCustomResources(transcript: Transcript): Promise<void> {
  const examples = Array.from({ length: EXAMPLES }, (_, seed) => randomDefinition(seed))
  const answers = (await askReferee('judge-custom-resources', [], examples)).map((line) => JSON.parse(line) as Answer)
  const accepted = answers.filter(({ errors }) => errors.length === 0)
  const verdicts = accepted.flatMap((answer) => answer.verdicts ?? [])
  const valid = verdicts.filter(({ errors }) => errors.length === 0).length
  transcript.check('some definitions are refused', accepted.length > 500 && accepted.length < EXAMPLES, true)
  transcript.check('some objects are refused', valid > 1000 && valid < verdicts.length, true)
  const differences = examples.flatMap((example, seed) => compare(example, answers[seed]!, seed))
  transcript.check('both say the same', differences.slice(0, 3), [])
  transcript.check('number of differences', differences.length, 0)
}

function compare({ definition, objects }: DefinitionExample, answer: Answer, seed: number): readonly object[] {
  const { object, causes } = definitionKind().admit(definition as WrittenObject, { unknownFields: 'ignore' })
  // The cost of rules is bounded when they run.
  const errors = answer.errors.filter((text) => !text.includes('cost'))
  const ours = causes.length > 0
  if (ours !== errors.length > 0) return [{ seed, definition, ours: causes.map(textOf), theirs: errors }]
  if (ours || answer.errors.length > 0) return []
  const [kind] = customKinds(object!.spec as DefinitionSpec)
  return objects.flatMap(({ object: written, before }, index) => {
    const theirs = answer.verdicts![index]!
    const admitted = kind!.admit(written as WrittenObject, {
      unknownFields: 'ignore',
      before: before as Resource | undefined,
    })
    const strict = kind!.admit(written as WrittenObject, { unknownFields: 'warn' })
    const said = admitted.causes
      .map(textOf)
      .filter((text) => !ONLY_HERE.some((part) => text.includes(part)))
      .toSorted()
    const expected = theirs.errors
      .filter((text) => !text.includes(SAID_TWICE) && !ONLY_HERE.some((part) => text.includes(part)))
      .map(comparable)
      .toSorted()
    const unknown = strict.warnings.map((text) => /"(.*)"/.exec(text)![1]!)
    // There, a list is accepted as a text with a format.
    if (said.some((text) => text.endsWith('must be of type string: "array"') && !expected.includes(text))) return []
    // An earlier value of another type ends a rule with an error there.
    if (expected.some((text) => text.includes('invalid data, expected'))) return []
    const isSame =
      canonical(said.map(fieldOf)) === canonical(expected.map(fieldOf)) &&
      canonical(unknown) === canonical(theirs.unknown ?? []) &&
      (admitted.object === undefined || canonical(admitted.object) === canonical(theirs.object))
    if (isSame) return []
    return [{ seed, index, schema: schemaIn(definition), written, before, said, expected, unknown, theirs }]
  })
}

function schemaIn(definition: object): unknown {
  return (definition as { readonly spec: { readonly versions: readonly { readonly schema: unknown }[] } }).spec
    .versions[0]!.schema
}

function textOf({ field, message }: Cause): string {
  return `${field}: ${message}`
}

/** Errors whose place is only in their text. */
function comparable(text: string): string {
  const [, path] = /^(?:<nil>)?: Invalid value: "": "(.*?)" must /.exec(text) ?? []
  return path === undefined ? text : text.replace(/^(?:<nil>)?:/, `${path}:`)
}

/** The field of an error and its sort. */
function fieldOf(text: string): string {
  return text.split(': ').slice(0, 2).join(': ')
}
