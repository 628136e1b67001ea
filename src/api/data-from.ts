import {
  type ConfigProblem,
  exactlyOne,
  fieldPath,
  filesOnly,
  formattedText,
  itemPath,
  mapOf,
  object,
  optional,
  type Parsed,
  problem,
  type ScalarRefusal,
} from '#schema/index.ts'

const MAX_ENTRIES = 64
const MAX_NAME = 256
const MAX_PATH = 4096

// The message does not quote the text, which may be a secret written in place of the name of its variable.
function checkVariable(name: string): ScalarRefusal | undefined {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return undefined
  return { code: 'invalid-variable-name', message: 'must be the name of an environment variable' }
}

function checkPath(path: string): ScalarRefusal | undefined {
  return path.includes('\0') ? { code: 'invalid-path', message: 'must not contain a null character' } : undefined
}

const entrySource = exactlyOne(
  ['env', 'file'],
  object({
    env: optional(
      formattedText({ min: 1, max: MAX_NAME }, checkVariable),
      'Environment variable of the gateway; its value, as UTF-8, is the entry. It is read when the object is read.',
    ),
    file: optional(
      formattedText({ min: 1, max: MAX_PATH }, checkPath),
      'Path of a file whose bytes are the entry, at most 1 MiB; relative to the file that contains the object. A change of the file is a change of the object.',
    ),
  }),
)

const dataFrom = mapOf(entrySource, { max: MAX_ENTRIES })

/** Where the value of each entry of a Secret or ConfigMap comes from, by name of the entry. */
export type DataFrom = Parsed<typeof dataFrom>

/** The field of a Secret or ConfigMap for entries whose values are not in the object. An extension of Gatewright. */
export const dataFromField = () =>
  optional(
    filesOnly(dataFrom),
    'Entries whose values come from the environment or from other files. Only in local files (extension of Gatewright).',
  )

/** Each entry has one value. @param given names of the fields that have entries, and their entries */
export function repeatedEntries(
  path: string,
  from: Readonly<Record<string, unknown>> = {},
  given: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>,
): readonly ConfigProblem[] {
  return Object.keys(from).flatMap((key) =>
    Object.entries(given).flatMap(([field, entries = {}]) =>
      Object.hasOwn(entries, key)
        ? [
            problem(
              itemPath(fieldPath(path, 'dataFrom'), key),
              'not-together',
              `${field} has an entry of this name, too`,
            ),
          ]
        : [],
    ),
  )
}
