import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { type InvalidDocument, invalidDocuments } from '#test/invalid/invalid-document.ts'
import type { Transcript } from '../transcript.ts'
import { askReferee } from './referee.ts'

export const DEFINITIONS = join(import.meta.dirname, '..', '..', '..', 'install', 'crds')

/** What a CustomResourceDefinition cannot refuse, with the reason. */
const ONLY_HERE: readonly (readonly [document: RegExp, reason: string])[] = [
  [
    /^proxy-policy\/guard-(header-pattern|lookahead|pattern)$/,
    'a rule that compiles a pattern costs a hundred times the budget: the lists of patterns have no bound',
  ],
  [/^proxy-policy\/label-key$/, 'an API server checks metadata itself'],
  [/^proxy-policy\/authorization-null$/, 'null is an absent field there'],
]

interface Verdict {
  readonly accepted: boolean
  readonly errors: readonly string[]
  /** Paths of fields that are dropped; `kubectl` asks for a refusal of objects that have some. */
  readonly unknown: readonly string[] | null
}

/**
 * Checks the CustomResourceDefinitions as an API server does when they are created: structure, rules, and the estimated cost of the rules.
 * Then checks that they refuse the invalid documents of our kinds, but for those of the table.
 */
export async function checkCrds(transcript: Transcript): Promise<void> {
  const documents = invalidDocuments().filter(({ name }) => name.startsWith('proxy-'))
  const files = readdirSync(DEFINITIONS).map((name) => join(DEFINITIONS, name))
  await checkCosts(transcript, files)
  const objects = documents.map(({ text }) => parse(text) as object)
  // It ends with an error if a definition is refused.
  const lines = await askReferee('judge-objects', files, objects)
  const verdicts = lines.map((line) => JSON.parse(line) as Verdict)
  transcript.check('documents judged', [verdicts.length, documents.length > 250], [documents.length, true])
  const accepted = documents.filter((document, index) => !isRefused(document, verdicts[index]!))
  const unexpected = accepted.map(nameOf).filter((name) => !ONLY_HERE.some(([document]) => document.test(name)))
  transcript.check('each document is refused, but for those of the table', unexpected, [])
  const unused = ONLY_HERE.filter(([document]) => !accepted.some((each) => document.test(nameOf(each))))
  transcript.check('the table has no surplus', unused.map(String), [])
}

/** Says how much of the limits of an API server the rules of each definition cost, as it estimates them when the definition is created. */
async function checkCosts(transcript: Transcript, files: readonly string[]): Promise<void> {
  const measures = (await askReferee('measure-rules', files, [])).map((line) => JSON.parse(line) as Measure)
  transcript.check('definitions measured', measures.length, files.length)
  for (const { name, rules, total, totalLimit, costliest, ruleLimit, path } of measures) {
    const share = (cost: number, limit: number) => `${((100 * cost) / limit).toFixed(1)}% of the limit`
    const what = `${name}: ${rules} rules cost ${share(total, totalLimit)}, the costliest ${share(costliest, ruleLimit)} (${path})`
    transcript.check(what, total <= totalLimit && costliest <= ruleLimit, true)
  }
}

/** What `measure-rules` prints. */
interface Measure {
  readonly name: string
  readonly rules: number
  readonly total: number
  readonly totalLimit: number
  readonly costliest: number
  readonly ruleLimit: number
  /** Of the costliest rule. */
  readonly path: string
}

/** Unknown fields are refused with `fieldValidation=Strict`. */
function isRefused({ expected }: InvalidDocument, { accepted, unknown }: Verdict): boolean {
  if (!accepted) return true
  return expected.every(({ code, path }) => code === 'unknown-field' && unknown?.includes(path) === true)
}

function nameOf({ name }: InvalidDocument): string {
  return name.replace('.yaml', '')
}
