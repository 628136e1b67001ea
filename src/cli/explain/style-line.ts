import type { StyledText } from '../output.ts'

/** A pattern whose groups are all of a line but the spaces between them, and the style of each. */
const STYLES: readonly (readonly [RegExp, ...StyledText['style'][]])[] = [
  [/^(response) ( +[123]\d\d.*)$/, 'bold', 'green'],
  [/^(response) ( +\d{3}.*)$/, 'bold', 'red'],
  [/^(closed) (.*)$/, 'bold', 'red'],
  [/^( +(?:not |\d+ (?:other )?match).*)$/, 'dim'],
  [/^(listener|route) (.*) (\(\S+:\d+\))$/, 'bold', undefined, 'dim'],
  [/^(path|listener|route|policies|steps|consumer|relayed) (.*)$/, 'bold', undefined],
  [/^(\S.*)$/, 'bold'],
  [/^( +(?:set by|over) .*) (\(\S+:\d+\))$/, undefined, 'dim'],
  [/^( {2}\S+ +\S+) ( *proceed.*)$/, undefined, 'green'],
  [/^( {2}\S+ +\S+) ( *(?:refuse|answer).*)$/, undefined, 'yellow'],
  [/^( +>) (.*)$/, 'green', undefined],
]

/** A line of `formatExplanation` in parts, for a terminal; those between spaces are the same text. */
export function styleLine(line: string): readonly StyledText[] {
  for (const [pattern, ...styles] of STYLES) {
    const groups = pattern.exec(line)?.slice(1)
    if (groups !== undefined) return groups.map((text, at) => ({ text, style: styles[at] }))
  }
  return [{ text: line }]
}
