import type { ConfigProblem } from '#base/config-problem.ts'
import { fieldPath, itemPath, problem } from '#schema/index.ts'

/** A value that is only the name of a variable, alone or after a word, as in `Bearer ${TOKEN}`. */
const PLACEHOLDER = /^(?:[A-Za-z]+ )?\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/

/** The fields of a Secret or ConfigMap with entries. */
const ENTRIES = ['data', 'stringData', 'binaryData']

/** Whether a text can contain placeholders. */
export function mayHavePlaceholders(text: string): boolean {
  return text.includes('${')
}

/** Values that look as if a shell or a template engine should have replaced them. The gateway uses them as they are. */
export function placeholderProblems(object: unknown): readonly ConfigProblem[] {
  const { kind, metadata: _, ...fields } = object as Readonly<Record<string, unknown>>
  const hasEntries = kind === 'Secret' || kind === 'ConfigMap'
  return Object.entries(fields).flatMap(([field, value]) =>
    hasEntries && ENTRIES.includes(field) ? inEntries(value, field) : inFields(value, field),
  )
}

function inEntries(value: unknown, path: string): readonly ConfigProblem[] {
  return Object.entries(value ?? {}).flatMap(([key, entry]) =>
    placeholder(
      entry,
      itemPath(path, key),
      (source) => `To take the entry from the environment, write ${source(key)} instead`,
    ),
  )
}

function inFields(value: unknown, path: string): readonly ConfigProblem[] {
  if (typeof value === 'string') return placeholder(value, path, SECRET_INSTEAD)
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([name, member]) =>
    inFields(member, isList || !IDENTIFIER.test(name) ? itemPath(path, name) : fieldPath(path, name)),
  )
}

const IDENTIFIER = /^[A-Za-z]\w*$/

type SourceText = (key: string) => string

const SECRET_INSTEAD = (source: SourceText) =>
  `A Secret can take an entry from the environment, with ${source('KEY')}; refer to it where the field allows it`

function placeholder(value: unknown, path: string, advice: (source: SourceText) => string): readonly ConfigProblem[] {
  const name = typeof value === 'string' ? PLACEHOLDER.exec(value)?.[1] : undefined
  if (name === undefined) return []
  const instead = advice((key) => `dataFrom: { ${key}: { env: ${name} } }`)
  const message = `the gateway does not replace \${${name}}; the value is this text. ${instead}`
  return [problem(path, 'not-substituted', message, 'warning')]
}
