import type { Command, Option } from 'commander'
import { childrenOf, type FoundField, findField, pathText } from '#api/find-field.ts'
import { KINDS } from '#api/kinds.ts'
import { PRODUCTS, plainWord } from '#base/products.ts'

/** Values of arguments, by command. */
const ARGUMENTS: Readonly<Record<string, (word: string) => readonly string[]>> = {
  fields: fieldsFrom,
  init: () => ['http', 'llm', 'mcp', 'a2a'],
  profile: () => ['cpu', 'heap'],
  completion: () => ['bash', 'zsh', 'fish'],
}

/**
 * What the last word of a command line can become: subcommands, options, paths of fields. None: a file or something that only the user knows.
 * @param words after the name of the program; the last one is incomplete, or empty
 */
export function complete(program: Command, words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? ''
  const { command, awaitsValue } = readWords(program, words.slice(0, -1))
  if (awaitsValue) return []
  return candidates(command, last).filter((candidate) => candidate.startsWith(last))
}

function candidates(command: Command, last: string): readonly string[] {
  if (last.startsWith('-')) return [...command.options.flatMap(namesOf), '--help']
  if (command.commands.length > 0) return command.commands.map((each) => each.name())
  return ARGUMENTS[command.name()]?.(last) ?? []
}

function namesOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((name) => name !== undefined)
}

/** The command that complete words lead to, and whether the last of them is an option without its value. */
function readWords(
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly awaitsValue: boolean } {
  let command = program
  let awaitsValue = false
  for (const word of words) {
    if (awaitsValue) awaitsValue = false
    else if (word.startsWith('-'))
      awaitsValue = command.options.some((option) => option.required && namesOf(option).includes(word))
    else command = command.commands.find((each) => each.name() === word) ?? command
  }
  return { command, awaitsValue }
}

/** Kinds and products, or the fields of what is before the last dot. */
function fieldsFrom(word: string): readonly string[] {
  const end = word.lastIndexOf('.')
  if (end < 0) return [...KINDS.map(({ kind }) => kind), ...new Set(Object.values(PRODUCTS).map(plainWord))]
  const parent = findField(word.slice(0, end))
  return 'message' in parent ? [] : childrenOf(parent).map((field) => nameAfter(word.slice(0, end), field))
}

/** The path as the user has written it so far. */
function nameAfter(written: string, field: FoundField): string {
  return `${written}.${pathText(field).split('.').at(-1)}`
}
