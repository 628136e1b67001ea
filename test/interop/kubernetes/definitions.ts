import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findKind } from '#api/kinds.ts'
import type { FindingCode } from '#base/findings.ts'
import { validate } from '#schema/index.ts'
import { allLeaves } from '#test/fields/leaves.ts'
import { type Variant, variantsOf } from '#test/fields/variants.ts'
import type { Transcript } from '../transcript.ts'
import { DEFINITIONS } from './crds.ts'
import { askReferee, canonical } from './referee.ts'

/** What the code of a Kubernetes API server says of an object. */
interface Verdict {
  readonly accepted: boolean
  readonly errors: readonly string[]
  readonly object: Readonly<Record<string, unknown>>
}

/** What only this gateway checks. Unknown fields are pruned there, or refused with `kubectl --validate=strict`; of patterns see `crds.ts`. */
const ONLY_HERE: readonly FindingCode[] = ['unknown-field', 'files-only', 'invalid-pattern']

/** Compares the verdict of this gateway with that of an API server about some thousand valid and invalid objects of our kinds. */
export async function checkDefinitions(transcript: Transcript): Promise<void> {
  const variants = ownVariants()
  const verdicts = await judge(variants)
  transcript.check('objects judged', verdicts.length, variants.length)
  const stricter: string[] = []
  const laxer: string[] = []
  const otherDefaults: string[] = []
  verdicts.forEach((verdict, index) => {
    const { title, object } = variants[index]!
    const { problems, value } = validate(findKind(object.kind as string)!.schema, object)
    if (problems.length === 0 && !verdict.accepted) stricter.push(`${title}: ${verdict.errors[0]}`)
    const unexpected = problems.filter(({ code }) => !ONLY_HERE.includes(code))
    if (verdict.accepted && unexpected.length > 0)
      laxer.push(`${title}: ${unexpected[0]!.path} ${unexpected[0]!.message}`)
    if (value !== undefined && verdict.accepted && !isSame(value, verdict.object)) otherDefaults.push(title)
  })
  transcript.check('nothing that the gateway accepts is refused by an API server', stricter.slice(0, 20), [])
  transcript.check('what the gateway refuses is refused by an API server, too', laxer.slice(0, 20), [])
  transcript.check('both set the same defaults', otherDefaults.slice(0, 20), [])
}

function ownVariants(): readonly Variant[] {
  const all = allLeaves()
    .filter(({ kind }) => kind.own)
    .flatMap((leaf) => [...variantsOf(leaf)])
  const byText = new Map(all.map((variant) => [JSON.stringify(variant.object), variant]))
  return [...byText.values()]
}

async function judge(variants: readonly Variant[]): Promise<readonly Verdict[]> {
  const files = readdirSync(DEFINITIONS).map((name) => join(DEFINITIONS, name))
  const lines = await askReferee(
    'judge-objects',
    files,
    variants.map(({ object }) => object),
  )
  return lines.map((line) => JSON.parse(line) as Verdict)
}

function isSame(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}
