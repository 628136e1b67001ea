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

/** Unknown fields are refused with `fieldValidation=Strict`. */
function isRefused({ expected }: InvalidDocument, { accepted, unknown }: Verdict): boolean {
  if (!accepted) return true
  return expected.every(({ code, path }) => code === 'unknown-field' && unknown?.includes(path) === true)
}

function nameOf({ name }: InvalidDocument): string {
  return name.replace('.yaml', '')
}
