import type { JsonValue } from '../json/json-document.ts'
import type { SearchLocation, Tool, WebSearch } from './conversation.ts'
import type { Losses } from './losses.ts'
import type { ObjectReader } from './object-reader.ts'
import { Untranslatable } from './untranslatable.ts'

const LOCATION = ['city', 'country', 'region', 'timezone'] as const

/** What a choice of the tool calls it, and all but chat completions the tool. */
export const SEARCH = 'web_search'

/** The types that the tool has in the Responses API. */
const RESPONSES_SEARCH: readonly string[] = [
  SEARCH,
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
]

export function isResponsesSearch(type: string): boolean {
  return RESPONSES_SEARCH.includes(type)
}

export function searchTool(search: WebSearch, origin: JsonValue): Tool {
  const tool = { name: SEARCH, description: undefined, parameters: undefined, strict: undefined, takesText: false }
  return { ...tool, search, origin }
}

/** @param reader the object with `city` and the others */
export function readLocation(reader: ObjectReader | undefined, losses: Losses): SearchLocation | undefined {
  if (reader === undefined) return undefined
  reader.word('type', ['approximate'])
  const location: { -readonly [Name in keyof SearchLocation]: string } = {}
  for (const name of LOCATION) {
    const text = reader.text(name)
    if (text !== undefined) location[name] = text
  }
  reader.drop(losses)
  return location
}

/** A tool that the provider would have to run itself (decision B26). */
export function refuseHosted(origin: JsonValue, what: string): Untranslatable {
  const remedy = 'the setting transformations of backend.ai can remove it'
  return new Untranslatable(origin, `the provider of this request does not support ${what}; ${remedy}`)
}
