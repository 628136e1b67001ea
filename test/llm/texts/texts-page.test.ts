import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  COMPLETIONS_ANSWER,
  COMPLETIONS_EVENT,
  COMPLETIONS_REQUEST,
} from '#protocols/llm/dialects/completions/texts.ts'
import { EMBEDDINGS_REQUEST } from '#protocols/llm/dialects/embeddings/texts.ts'
import { MESSAGES_ANSWER, MESSAGES_EVENT, MESSAGES_REQUEST } from '#protocols/llm/dialects/messages/texts.ts'
import { REALTIME_EVENT } from '#protocols/llm/dialects/responses/realtime-texts.ts'
import { RESPONSES_ANSWER, RESPONSES_EVENT, RESPONSES_REQUEST } from '#protocols/llm/dialects/responses/texts.ts'
import { expandPaths, type TextTable } from '#protocols/llm/texts/text-table.ts'
import type { Treatment } from '#protocols/llm/texts/treatments.ts'

const PAGE = new URL('../../../docs/behaviour/prompt-guards.md', import.meta.url)
const BEGIN = '<!-- generated: texts -->\n'
const END = '<!-- end: texts -->'

/** Beginnings of paths, each with one below which an earlier table of the API says the same. */
type Same = readonly (readonly [beginning: string, instead: string])[]

const OF_RESPONSES: Same = [
  ['response.', ''],
  ['item.', 'output[].'],
  ['part.', 'output[].content[].'],
  ['output[].', 'input[].'],
  ['input[].tools[].', 'tools[].'],
  ['tools[].tools[].', 'tools[].'],
  ['input[].output[].', 'input[].content[].'],
  ['input[].outputs[].', 'input[].content[].'],
  ['input[].summary[].', 'input[].content[].'],
  ['prompt.variables.*.', 'input[].content[].'],
  ['tools[].environment.', 'tools[].container.'],
  ['input[].environment.', 'tools[].container.'],
  ['session.', ''],
]

const OF_MESSAGES: Same = [
  ['message.', ''],
  ['content_block.', 'content[].'],
  ['content[].', 'messages[].content[].'],
  ['system[].', 'messages[].content[].'],
  ['messages[].content[].tool_changes[].tool.', 'messages[].content[].tool.'],
  ['messages[].content[].tool.definition.', 'tools[].'],
  ['messages[].content[].tools[].', 'tools[].'],
  ['tools[].tools[].', 'tools[].'],
]

const OF_COMPLETIONS: Same = [
  ['choices[].delta.', 'choices[].message.'],
  ['choices[].message.', 'messages[].'],
  ['prediction.', 'messages[].'],
]

interface Api {
  readonly tables: readonly (readonly [title: string, table: TextTable])[]
  readonly same: Same
}

const APIS: readonly Api[] = [
  {
    tables: [
      ['Requests of chat completions', COMPLETIONS_REQUEST],
      ['Answers of chat completions', COMPLETIONS_ANSWER],
      ['Chunks of chat completions', COMPLETIONS_EVENT],
    ],
    same: OF_COMPLETIONS,
  },
  {
    tables: [
      ['Requests of the Messages API, also for token counts', MESSAGES_REQUEST],
      ['Answers of the Messages API', MESSAGES_ANSWER],
      ['Events of the Messages API', MESSAGES_EVENT],
    ],
    same: OF_MESSAGES,
  },
  {
    tables: [
      ['Requests of the Responses API', RESPONSES_REQUEST],
      ['Answers of the Responses API', RESPONSES_ANSWER],
      ['Events of the Responses API', RESPONSES_EVENT],
      ['Events of clients in a Realtime session', REALTIME_EVENT],
    ],
    same: OF_RESPONSES,
  },
  { tables: [['Requests for embeddings', EMBEDDINGS_REQUEST]], same: [] },
]

/** What a table says about a treatment; undefined: it can be masked. */
function meaningOf(treatment: Treatment): string | undefined {
  switch (treatment.kind) {
    case 'exempt':
      return treatment.reason
    case 'file':
      return 'Exempt if it is a file that is not text, or an address of one.'
    case 'schema':
      return 'A schema: checked, and mostly not changed.'
    case 'fixed':
      return 'Checked, and never changed.'
    case 'signed':
      return 'Checked, and not changed if it is signed.'
    case 'logprobs':
      return 'Removed.'
    default:
      return undefined
  }
}

/**
 * The places of a table by what it says about them; paths with the same beginning are one.
 * @param said what the tables of the API have said about paths
 */
function describe({ places, anywhere }: TextTable, same: Same, said: Map<string, string | undefined>): string {
  const found = new Map<string, string | undefined>()
  for (const [paths, treatment] of Object.entries(places)) {
    for (const path of expandPaths(paths)) found.set(path, meaningOf(treatment))
  }
  for (const [name, treatment] of Object.entries(anywhere)) found.set(`**.${name}`, meaningOf(treatment))
  const own = new Map([...said, ...found])
  const groups = new Map<string, string[]>()
  const like = new Set<string>()
  for (const [path, meaning] of found) {
    if (meaning === undefined) continue
    const repeated = repeatOf(path, same, (other) => own.get(other) === meaning)
    if (repeated !== undefined) like.add(repeated)
    else if (said.get(path) !== meaning) groups.set(meaning, [...(groups.get(meaning) ?? []), path])
  }
  for (const [path, meaning] of found) said.set(path, meaning)
  const rows = [...groups].sort(([one], [other]) => (one < other ? -1 : 1))
  const lines = rows.map(([meaning, paths]) => `| ${meaning} | ${merge(paths.sort()).join(' ')} |\n`)
  if (like.size > 0) lines.push(`| As there | ${[...like].join(', ')} |\n`)
  return lines.join('')
}

/** The beginnings by which a path is another one about which the same was said. */
function repeatOf(path: string, same: Same, isSaid: (path: string) => boolean): string | undefined {
  let now = path
  const steps: string[] = []
  for (let round = 0; round < 4; round++) {
    const found = same.find(([beginning]) => now.startsWith(beginning))
    if (found === undefined) return undefined
    const [beginning, instead] = found
    now = instead + now.slice(beginning.length)
    steps.push(`\`${beginning.slice(0, -1)}\` as \`${instead === '' ? 'the answer' : instead.slice(0, -1)}\``)
    if (isSaid(now)) return steps.join(', ')
  }
  return undefined
}

/** `a.b` and `a.c` as `a.{b,c}`. */
function merge(paths: readonly string[]): readonly string[] {
  const ends = new Map<string, string[]>()
  for (const path of paths) {
    const dot = path.lastIndexOf('.')
    const [holder, name] = [path.slice(0, dot + 1), path.slice(dot + 1)]
    ends.set(holder, [...(ends.get(holder) ?? []), name])
  }
  return [...ends].map(([holder, names]) => `\`${holder}${names.length > 1 ? `{${names.join(',')}}` : names[0]}\``)
}

function generated(): string {
  return APIS.map(({ tables, same }) => {
    const said = new Map<string, string | undefined>()
    return tables
      .map(([title, table]) => {
        return `\n### ${title}\n\n| What | Where |\n| --- | --- |\n${describe(table, same, said)}`
      })
      .join('')
  }).join('')
}

test('the page on prompt guards lists what no guard checks, or changes (UPDATE=1 writes it)', () => {
  const page = readFileSync(PAGE, 'utf8')
  const text = `${page.slice(0, page.indexOf(BEGIN) + BEGIN.length) + generated()}\n${page.slice(page.indexOf(END))}`
  if (process.env.UPDATE === '1') writeFileSync(PAGE, text)
  else expect(page).toBe(text)
})
